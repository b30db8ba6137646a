// SgdUpdate and AdamUpdate, in whatever format the weight lives in; weight and slots are updated where they lie.
#include "kernels/functors/optimizers.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

template <typename T>
struct SgdElements {
  In<T> weight, gradient, buffer;  // without momentum there is no buffer
  In<float> learning_rate;
  Out<T> new_weight, new_buffer;
  functors::Sgd<T> sgd;

  void arrays(Accesses& accesses) const { accesses(weight)(gradient)(buffer)(learning_rate)(new_weight)(new_buffer); }
  __host__ __device__ void operator()(std::int64_t i) const {
    functors::Sgd<T> step = sgd;
    step.learning_rate = static_cast<T>(learning_rate[0]);
    if (buffer.elements == nullptr) {
      new_weight[i] = step.without_momentum(weight[i], gradient[i]);
    } else {
      T moved = buffer[i];
      new_weight[i] = step.with_momentum(weight[i], gradient[i], moved);
      new_buffer[i] = moved;
    }
  }
};

struct AdamAttributes {
  double beta1, beta2, epsilon, weight_decay;
  bool decoupled;
};

/// The coefficients of a step, once for all elements.
template <typename T>
struct AdamStep {
  In<float> learning_rate;
  In<std::int64_t> step;
  AdamAttributes attributes;
  Out<functors::Adam<T>> adam;

  void arrays(Accesses& accesses) const { accesses(learning_rate)(step)(adam); }
  __host__ __device__ void operator()(std::int64_t i) const {
    adam[i] =
        functors::Adam<T>::at_step(step[0], static_cast<double>(learning_rate[0]), attributes.beta1, attributes.beta2,
                                   attributes.epsilon, attributes.weight_decay, attributes.decoupled);
  }
};

template <typename T>
struct AdamElements {
  In<functors::Adam<T>> adam;
  In<T> weight, gradient, first, second;
  Out<T> new_weight, new_first, new_second;

  void arrays(Accesses& accesses) const {
    accesses(adam)(weight)(gradient)(first)(second)(new_weight)(new_first)(new_second);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    T first_moment = first[i], second_moment = second[i];
    new_weight[i] = adam[0](weight[i], gradient[i], first_moment, second_moment);
    new_first[i] = first_moment;
    new_second[i] = second_moment;
  }
};

/// The weight decides the format; gradient and slots follow. Null where an array has other elements or extents: the
/// host kernel says what is wrong.
std::unique_ptr<LaunchedKernel> make_update(const Request& request, const std::vector<std::size_t>& followers) {
  const Format weight = request.input(0);
  if (!TrainingTypes::contain(weight.dtype()) || request.plain_input(2).dtype() != DataType::float32) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs[0] = weight;
  for (const std::size_t index : followers) {
    if (request.plain_input(index) != request.plain_input(0)) return nullptr;
    kernel->inputs[index] = weight;
  }
  for (Format& format : kernel->outputs) {
    if (format.defined()) format = weight;
  }
  return kernel;
}

std::unique_ptr<Kernel> make_sgd(const Request& request) {
  const graph::Node& node = request.node;
  const bool has_buffer = request.has_input(3);
  if (!request.has_output(0) || has_buffer != request.has_output(1)) return nullptr;
  if (node.real("momentum", 0) != 0 && !has_buffer) return nullptr;
  std::vector<std::size_t> followers{1};
  if (has_buffer) followers.push_back(3);
  auto kernel = make_update(request, followers);
  if (kernel == nullptr) return nullptr;
  kernel->in_place = {{0, 0}};
  if (has_buffer) kernel->in_place.push_back({1, 3});
  TrainingTypes::dispatch(request.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const functors::Sgd<T> sgd{T(0), static_cast<T>(node.real("weight_decay", 0)),
                               static_cast<T>(node.real("momentum", 0)), node.integer("nesterov", 0) != 0};
    kernel->launches = [sgd](const LaunchedKernel& self) {
      const SgdElements<T> elements{
          self.in<T>(0), self.in<T>(1), self.in<T>(3), self.in<float>(2), self.out<T>(0), self.out<T>(1), sgd};
      self.for_each(elements.weight.count, elements);
    };
  });
  return kernel;
}

std::unique_ptr<Kernel> make_adam(const Request& request) {
  const graph::Node& node = request.node;
  for (const std::size_t output : {0, 1, 2}) {
    if (!request.has_output(output)) return nullptr;
  }
  if (request.plain_input(3).dtype() != DataType::int64) return nullptr;
  auto kernel = make_update(request, {1, 4, 5});
  if (kernel == nullptr) return nullptr;
  kernel->in_place = {{0, 0}, {1, 4}, {2, 5}};
  const AdamAttributes attributes{node.real("beta1", 0.9f), node.real("beta2", 0.999f), node.real("epsilon", 1e-8f),
                                  node.real("weight_decay", 0), node.integer("decoupled", 0) != 0};
  TrainingTypes::dispatch(request.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->scratchpad_bytes = sizeof(functors::Adam<T>);
    kernel->launches = [attributes](const LaunchedKernel& self) {
      const auto adam = self.scratch<functors::Adam<T>>(1);
      self.for_each(1, AdamStep<T>{self.in<float>(2), self.in<std::int64_t>(3), attributes, adam});
      const AdamElements<T> elements{{adam.elements, 1}, self.in<T>(0),  self.in<T>(1),  self.in<T>(4),
                                     self.in<T>(5),      self.out<T>(0), self.out<T>(1), self.out<T>(2)};
      self.for_each(elements.weight.count, elements);
    };
  });
  return kernel;
}

const TrainingFactoryRegistration registrations[] = {{"SgdUpdate", make_sgd}, {"AdamUpdate", make_adam}};

}  // namespace

}  // namespace ort_train::runtime::cuda
