#include "kernels/functors/activations.h"

#include <limits>

#include "kernels/elementwise.h"

namespace ort_train::kernels {

namespace {

template <typename Functor>
void compute_plain(Invocation& call) {
  unary_kernel(call, floating_types, Functor{});
}

/// `member` takes the attribute's value where the node has it.
void read_attribute(const Invocation& call, const std::string& name, float& member) {
  member = call.node.real(name, member);
}

template <typename Functor>
void compute_with_alpha(Invocation& call) {
  Functor functor;
  read_attribute(call, "alpha", functor.alpha);
  unary_kernel(call, floating_types, functor);
}

void compute_relu(Invocation& call) { unary_kernel(call, numeric_types, functors::Relu{}); }

void compute_selu(Invocation& call) {
  functors::Selu selu;
  read_attribute(call, "alpha", selu.alpha);
  read_attribute(call, "gamma", selu.gamma);
  unary_kernel(call, floating_types, selu);
}

void compute_celu(Invocation& call) {
  functors::Celu celu;
  read_attribute(call, "alpha", celu.alpha);
  if (celu.alpha == 0) fail("alpha of Celu must not be 0");
  unary_kernel(call, floating_types, celu);
}

void compute_hard_sigmoid(Invocation& call) {
  functors::HardSigmoid hard_sigmoid;
  read_attribute(call, "alpha", hard_sigmoid.alpha);
  read_attribute(call, "beta", hard_sigmoid.beta);
  unary_kernel(call, floating_types, hard_sigmoid);
}

void compute_gelu(Invocation& call) {
  const std::string approximate = call.node.string("approximate", "none");
  if (approximate == "none") {
    unary_kernel(call, floating_types, functors::Gelu{});
  } else if (approximate == "tanh") {
    unary_kernel(call, floating_types, functors::GeluTanh{});
  } else {
    fail("approximate is '", approximate, "'; Gelu knows 'none' and 'tanh'");
  }
}

void compute_shrink(Invocation& call) {
  functors::Shrink shrink;
  read_attribute(call, "lambd", shrink.lambd);
  read_attribute(call, "bias", shrink.bias);
  unary_kernel(call, numeric_types, [&](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return shrink(x);
    } else {
      return static_cast<T>(shrink(static_cast<double>(x)));
    }
  });
}

/// A bound of Clip: a scalar input, or the bound of the type itself.
template <typename T>
Compute<T> clip_bound(const Invocation& call, std::size_t index, Compute<T> fallback) {
  if (!call.has_input(index)) return fallback;
  const Tensor& bound = call.inputs[index];
  if (bound.size() != 1) fail("a bound of Clip must be a scalar, but has the shape ", to_string(bound.dims()));
  return load(*bound.data<T>());
}

void compute_clip(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  dispatch_numeric(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<Compute<T>>;
    // An absent bound must leave infinities alone.
    const Compute<T> lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const Compute<T> highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const functors::Clip<Compute<T>> clip{clip_bound<T>(call, 1, lowest), clip_bound<T>(call, 2, highest)};
    map_unary<T, T>(x, output(call, 0, x.dtype(), x.dims()), clip);
  });
}

void compute_parametric_relu(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const Tensor& slope = call.inputs.at(1);
  dispatch_numeric(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<T, T, T>(x, slope, output(call, 0, x.dtype(), x.dims()), functors::ParametricRelu{});
  });
}

template <typename Functor>
void compute_gradient(Invocation& call) {
  binary_kernel(call, training_types, Functor{});
}

const Registration registrations[] = {
    {"Relu", compute_relu},
    {"PRelu", compute_parametric_relu},
    {"LeakyRelu", compute_with_alpha<functors::LeakyRelu>},
    {"ThresholdedRelu", compute_with_alpha<functors::ThresholdedRelu>},
    {"Elu", compute_with_alpha<functors::Elu>},
    {"Selu", compute_selu},
    {"Celu", compute_celu},
    {"Sigmoid", compute_plain<functors::Sigmoid>},
    {"HardSigmoid", compute_hard_sigmoid},
    {"HardSwish", compute_plain<functors::HardSwish>},
    {"Swish", compute_with_alpha<functors::Swish>},
    {"Softplus", compute_plain<functors::Softplus>},
    {"Softsign", compute_plain<functors::Softsign>},
    {"Mish", compute_plain<functors::Mish>},
    {"Gelu", compute_gelu},
    {"Shrink", compute_shrink},
    {"Clip", compute_clip},
};

const TrainingRegistration training_registrations[] = {
    {"ReluGrad", compute_gradient<functors::ReluGradient>},
    {"SigmoidGrad", compute_gradient<functors::SigmoidGradient>},
    {"TanhGrad", compute_gradient<functors::TanhGradient>},
};

}  // namespace

}  // namespace ort_train::kernels
