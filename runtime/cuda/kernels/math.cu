// Mathematical functions of one operand.
#include "kernels/functors/math.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

struct LogicalNot {
  __host__ __device__ bool operator()(bool x) const { return !x; }
};

std::unique_ptr<Kernel> make_is_infinite(const Request& request) {
  return make_unary<FloatingTypes>(request, functors::IsInfinite{request.node.integer("detect_negative", 1) != 0,
                                                                 request.node.integer("detect_positive", 1) != 0});
}

const FactoryRegistration registrations[] = {
    {"Exp", unary<FloatingTypes, functors::Exp>},     {"Log", unary<FloatingTypes, functors::Log>},
    {"Sqrt", unary<FloatingTypes, functors::Sqrt>},   {"Reciprocal", unary<FloatingTypes, functors::Reciprocal>},
    {"Floor", unary<FloatingTypes, functors::Floor>}, {"Ceil", unary<FloatingTypes, functors::Ceil>},
    {"Round", unary<FloatingTypes, functors::Round>}, {"Erf", unary<FloatingTypes, functors::Erf>},
    {"IsNaN", unary<FloatingTypes, functors::IsNaN>}, {"IsInf", make_is_infinite},
    {"Abs", unary<NumericTypes, functors::Abs>},      {"Sign", unary<NumericTypes, functors::Sign>},
    {"Neg", unary<NumericTypes, functors::Negate>},   {"BitwiseNot", unary<IntegerTypes, functors::BitwiseNot>},
    {"Not", unary<BooleanType, LogicalNot>},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
