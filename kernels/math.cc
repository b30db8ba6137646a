#include "kernels/functors/math.h"

#include "kernels/elementwise.h"

namespace ort_train::kernels {

namespace {

template <typename Functor>
void compute_floating(Invocation& call) {
  unary_kernel(call, floating_types, Functor{});
}

template <typename Functor>
void compute_numeric(Invocation& call) {
  unary_kernel(call, numeric_types, Functor{});
}

void compute_bitwise_not(Invocation& call) { unary_kernel(call, integer_types, functors::BitwiseNot{}); }

void compute_not(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  map_unary<bool, bool>(x, output(call, 0, DataType::boolean, x.dims()), [](bool value) { return !value; });
}

void compute_is_infinite(Invocation& call) {
  unary_kernel(
      call, floating_types,
      functors::IsInfinite{call.node.integer("detect_negative", 1) != 0, call.node.integer("detect_positive", 1) != 0});
}

void compute_identity(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  if (x.dtype() == DataType::string) {
    output(call, 0, x.dtype(), x.dims()).strings() = x.strings();
  } else {
    unary_kernel(call, all_types, functors::Identity{});
  }
}

const Registration registrations[] = {
    {"Exp", compute_floating<functors::Exp>},
    {"Log", compute_floating<functors::Log>},
    {"Sqrt", compute_floating<functors::Sqrt>},
    {"Reciprocal", compute_floating<functors::Reciprocal>},
    {"Floor", compute_floating<functors::Floor>},
    {"Ceil", compute_floating<functors::Ceil>},
    {"Round", compute_floating<functors::Round>},
    {"Sin", compute_floating<functors::Sin>},
    {"Cos", compute_floating<functors::Cos>},
    {"Tan", compute_floating<functors::Tan>},
    {"Asin", compute_floating<functors::Asin>},
    {"Acos", compute_floating<functors::Acos>},
    {"Atan", compute_floating<functors::Atan>},
    {"Sinh", compute_floating<functors::Sinh>},
    {"Cosh", compute_floating<functors::Cosh>},
    {"Tanh", compute_floating<functors::Tanh>},
    {"Asinh", compute_floating<functors::Asinh>},
    {"Acosh", compute_floating<functors::Acosh>},
    {"Atanh", compute_floating<functors::Atanh>},
    {"Erf", compute_floating<functors::Erf>},
    {"IsNaN", compute_floating<functors::IsNaN>},
    {"Abs", compute_numeric<functors::Abs>},
    {"Sign", compute_numeric<functors::Sign>},
    {"Neg", compute_numeric<functors::Negate>},
    {"BitwiseNot", compute_bitwise_not},
    {"Not", compute_not},
    {"IsInf", compute_is_infinite},
    {"Identity", compute_identity},
};

}  // namespace

}  // namespace ort_train::kernels
