// Arithmetic of two operands.
#include "kernels/functors/arithmetic.h"
#include "kernels/functors/convert.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

// Of integers by the host, which says where a divisor is 0.

std::unique_ptr<Kernel> make_modulo(const Request& request) {
  if (request.node.integer("fmod", 0) != 0) {
    return make_binary<FloatingTypes>(request, functors::TruncatedRemainder{});
  }
  return make_binary<FloatingTypes>(request, functors::FlooredRemainder{});
}

struct Square {
  template <typename T>
  __host__ __device__ T operator()(T x) const {
    return functors::Multiply{}(x, x);
  }
};

/// Computed in float64, as the host does where base and exponent have different types.
struct PowerOfConstant {
  double exponent;
  template <typename T>
  __host__ __device__ T operator()(T x) const {
    return functors::Convert<T>{}(functors::Power{}(static_cast<double>(x), exponent));
  }
};

std::unique_ptr<Kernel> make_power(const Request& request) {
  const graph::Value* exponent = request.node.input(1);
  const bool is_known = exponent->is_constant() && exponent->initial().size() == 1 &&
                        request.plain_input(0).dims() == request.plain_output(0).dims();
  if (is_known) {
    const double value = exponent->initial().to_doubles()[0];
    if (value == 2) return make_unary<NumericTypes>(request, Square{});
    if (exponent->dtype() != request.plain_input(0).dtype()) {
      return make_unary<FloatingTypes>(request, PowerOfConstant{value});
    }
  }
  return make_binary<FloatingTypes>(request, functors::Power{});
}

std::unique_ptr<Kernel> make_shift(const Request& request) {
  const std::string direction = request.node.string("direction", "");
  if (direction == "LEFT") return make_binary<IntegerTypes>(request, functors::ShiftLeft{});
  if (direction == "RIGHT") return make_binary<IntegerTypes>(request, functors::ShiftRight{});
  return nullptr;  // the host kernel says what is wrong
}

const FactoryRegistration registrations[] = {
    {"Add", binary<NumericTypes, functors::Add>},
    {"Sub", binary<NumericTypes, functors::Subtract>},
    {"Mul", binary<NumericTypes, functors::Multiply>},
    {"Div", binary<FloatingTypes, functors::Divide>},
    {"Mod", make_modulo},
    {"Pow", make_power},
    {"BitwiseAnd", binary<IntegerTypes, functors::BitwiseAnd>},
    {"BitwiseOr", binary<IntegerTypes, functors::BitwiseOr>},
    {"BitwiseXor", binary<IntegerTypes, functors::BitwiseXor>},
    {"BitShift", make_shift},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
