// Elementwise operators that are made of exponentials, float32, in any format.
#include "runtime/cpu/kernels/exponential.h"

#include "runtime/cpu/kernels/elementwise.h"

namespace ort_train::runtime::cpu {

namespace {

struct Exponential {
  float operator()(float x) const { return exponential(x); }
};
struct Logistic {
  float operator()(float x) const { return logistic(x); }
};
struct HyperbolicTangent {
  float operator()(float x) const { return hyperbolic_tangent(x); }
};

template <typename Functor>
std::unique_ptr<Kernel> unary(const Request& request) {
  return make_unary(request, Functor{});
}

const FactoryRegistration exponential_function("Exp", unary<Exponential>);
const FactoryRegistration sigmoid("Sigmoid", unary<Logistic>);
const FactoryRegistration tanh("Tanh", unary<HyperbolicTangent>);

}  // namespace

}  // namespace ort_train::runtime::cpu
