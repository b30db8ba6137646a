#include "kernels/functors/optimizers.h"

#include "kernels/elementwise.h"

namespace ort_train::kernels {

namespace {

/// Slots and the gradient have the extents of the weight.
const Tensor& like_weight(const Invocation& call, std::size_t index) {
  const Tensor& weight = call.inputs.at(0);
  const Tensor& other = call.inputs.at(index);
  if (other.dims() != weight.dims()) {
    fail("input ", index, " has the shape ", to_string(other.dims()), ", but the weight ", to_string(weight.dims()));
  }
  return other;
}

double learning_rate(const Invocation& call) { return static_cast<double>(*call.inputs.at(2).data<float>()); }

template <typename T>
void update_by_sgd(Invocation& call) {
  const functors::Sgd<T> sgd{static_cast<T>(learning_rate(call)), static_cast<T>(call.node.real("weight_decay", 0.0f)),
                             static_cast<T>(call.node.real("momentum", 0.0f)), call.node.integer("nesterov", 0) != 0};
  const Tensor& weight = call.inputs.at(0);
  const T* w = weight.data<T>();
  const T* g = like_weight(call, 1).data<T>();
  T* new_w = output(call, 0, weight.dtype(), weight.dims()).template data<T>();
  if (!call.has_input(3)) {
    if (sgd.momentum != T(0)) fail("momentum needs a momentum buffer, which is missing");
    parallel_for(weight.size(), cheap_grain, [=](std::int64_t begin, std::int64_t end) {
      const functors::Sgd<T> step = sgd;
      for (std::int64_t i = begin; i < end; ++i) new_w[i] = step.without_momentum(w[i], g[i]);
    });
    return;
  }
  const T* b = like_weight(call, 3).data<T>();
  if (!wants_output(call, 1)) fail("the new momentum buffer must be an output where there is a momentum buffer");
  T* new_b = output(call, 1, weight.dtype(), weight.dims()).template data<T>();
  parallel_for(weight.size(), cheap_grain, [=](std::int64_t begin, std::int64_t end) {
    const functors::Sgd<T> step = sgd;
    for (std::int64_t i = begin; i < end; ++i) {
      T buffer = b[i];
      new_w[i] = step.with_momentum(w[i], g[i], buffer);
      new_b[i] = buffer;
    }
  });
}

template <typename T>
void update_by_adam(Invocation& call) {
  const std::int64_t step = integer_input(call, 3);
  if (step < 1) fail("the step is ", step, "; steps are counted from 1");
  const auto adam = functors::Adam<T>::at_step(
      step, learning_rate(call), call.node.real("beta1", 0.9f), call.node.real("beta2", 0.999f),
      call.node.real("epsilon", 1e-8f), call.node.real("weight_decay", 0.0f), call.node.integer("decoupled", 0) != 0);
  const Tensor& weight = call.inputs.at(0);
  const T* w = weight.data<T>();
  const T* g = like_weight(call, 1).data<T>();
  const T* m = like_weight(call, 4).data<T>();
  const T* v = like_weight(call, 5).data<T>();
  T* new_w = output(call, 0, weight.dtype(), weight.dims()).template data<T>();
  T* new_m = output(call, 1, weight.dtype(), weight.dims()).template data<T>();
  T* new_v = output(call, 2, weight.dtype(), weight.dims()).template data<T>();
  parallel_for(weight.size(), cheap_grain, [=](std::int64_t begin, std::int64_t end) {
    const functors::Adam<T> update = adam;
    // More arrays than the compiler would compare for overlaps; each element depends on those of its own index only.
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      T first_moment = m[i];
      T second_moment = v[i];
      new_w[i] = update(w[i], g[i], first_moment, second_moment);
      new_m[i] = first_moment;
      new_v[i] = second_moment;
    }
  });
}

void compute_sgd(Invocation& call) {
  dispatch_floating(call.inputs.at(0).dtype(), [&](auto tag) { update_by_sgd<typename decltype(tag)::type>(call); });
}

void compute_adam(Invocation& call) {
  dispatch_floating(call.inputs.at(0).dtype(), [&](auto tag) { update_by_adam<typename decltype(tag)::type>(call); });
}

const TrainingRegistration registrations[] = {{"SgdUpdate", compute_sgd}, {"AdamUpdate", compute_adam}};

}  // namespace

}  // namespace ort_train::kernels
