// Activation functions and the gradients that are operators of their own.
#include <limits>

#include "kernels/functors/activations.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// `member` takes the attribute's value where the node has it.
void read_attribute(const Request& request, const std::string& name, float& member) {
  member = request.node.real(name, member);
}

template <typename Functor>
std::unique_ptr<Kernel> with_alpha(const Request& request) {
  Functor functor;
  read_attribute(request, "alpha", functor.alpha);
  return make_unary<FloatingTypes>(request, functor);
}

std::unique_ptr<Kernel> make_selu(const Request& request) {
  functors::Selu selu;
  read_attribute(request, "alpha", selu.alpha);
  read_attribute(request, "gamma", selu.gamma);
  return make_unary<FloatingTypes>(request, selu);
}

std::unique_ptr<Kernel> make_celu(const Request& request) {
  if (request.node.real("alpha", 1) == 0) return nullptr;  // the host kernel says what is wrong
  return with_alpha<functors::Celu>(request);
}

std::unique_ptr<Kernel> make_hard_sigmoid(const Request& request) {
  functors::HardSigmoid hard_sigmoid;
  read_attribute(request, "alpha", hard_sigmoid.alpha);
  read_attribute(request, "beta", hard_sigmoid.beta);
  return make_unary<FloatingTypes>(request, hard_sigmoid);
}

std::unique_ptr<Kernel> make_gelu(const Request& request) {
  const std::string approximate = request.node.string("approximate", "none");
  if (approximate == "none") return make_unary<FloatingTypes>(request, functors::Gelu{});
  if (approximate == "tanh") return make_unary<FloatingTypes>(request, functors::GeluTanh{});
  return nullptr;  // the host kernel says what is wrong
}

std::unique_ptr<Kernel> make_shrink(const Request& request) {
  functors::Shrink shrink;
  read_attribute(request, "lambd", shrink.lambd);
  read_attribute(request, "bias", shrink.bias);
  return make_unary<FloatingTypes>(request, shrink);
}

/// The bounds are arrays of one element, or left out.
template <typename T>
struct ClipElements {
  In<T> x, low, high;
  Out<T> y;
  functors::Clip<Computed<T>> open;

  void arrays(Accesses& accesses) const { accesses(x)(low)(high)(y); }
  __host__ __device__ void operator()(std::int64_t i) const {
    functors::Clip<Computed<T>> clip = open;
    if (low.elements != nullptr) clip.low = loaded(low[0]);
    if (high.elements != nullptr) clip.high = loaded(high[0]);
    y[i] = stored<T>(clip(loaded(x[i])));
  }
};

std::unique_ptr<Kernel> make_clip(const Request& request) {
  const DataType type = request.plain_input(0).dtype();
  if (!NumericTypes::contain(type)) return nullptr;
  for (const std::size_t bound : {1, 2}) {
    if (request.has_input(bound) && request.plain_input(bound).size() != 1) return nullptr;
  }
  const ElementwisePlan plan(request, 1);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, 1);
  NumericTypes::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<Computed<T>>;
    // An absent bound must leave infinities alone.
    functors::Clip<Computed<T>> open{Limits::lowest(), Limits::max()};
    if (Limits::has_infinity) open = {-Limits::infinity(), Limits::infinity()};
    kernel->launches = [count = plan.count(), open](const LaunchedKernel& self) {
      self.for_each(count, ClipElements<T>{self.in<T>(0), self.in<T>(1), self.in<T>(2), self.out<T>(0), open});
    };
  });
  return kernel;
}

const FactoryRegistration registrations[] = {
    {"Relu", unary<NumericTypes, functors::Relu>},
    {"PRelu", binary<NumericTypes, functors::ParametricRelu>},
    {"LeakyRelu", with_alpha<functors::LeakyRelu>},
    {"ThresholdedRelu", with_alpha<functors::ThresholdedRelu>},
    {"Elu", with_alpha<functors::Elu>},
    {"Selu", make_selu},
    {"Celu", make_celu},
    {"Sigmoid", unary<FloatingTypes, functors::Sigmoid>},
    {"HardSigmoid", make_hard_sigmoid},
    {"HardSwish", unary<FloatingTypes, functors::HardSwish>},
    {"Swish", with_alpha<functors::Swish>},
    {"Softplus", unary<FloatingTypes, functors::Softplus>},
    {"Softsign", unary<FloatingTypes, functors::Softsign>},
    {"Mish", unary<FloatingTypes, functors::Mish>},
    {"Gelu", make_gelu},
    {"Shrink", make_shrink},
    {"Clip", make_clip},
};

const TrainingFactoryRegistration training_registrations[] = {
    {"ReluGrad", binary<FloatingTypes, functors::ReluGradient>},
    {"SigmoidGrad", binary<FloatingTypes, functors::SigmoidGradient>},
    {"TanhGrad", binary<FloatingTypes, functors::TanhGradient>},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
