// SgdUpdate and AdamUpdate, float32, in whatever format the weight lives in. The padding of a blocked format holds
// zeros, and a zero weight with a zero gradient stays zero.
#include "kernels/functors/optimizers.h"

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/vector.h"

namespace ort_train::runtime::cpu {

namespace {

namespace functors = ort_train::kernels::functors;

ORT_TRAIN_VECTORIZED void sgd(const functors::Sgd<float>& step, const float* w, const float* g, float* out,
                              std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = step.without_momentum(w[i], g[i]);
}

ORT_TRAIN_VECTORIZED void sgd_with_momentum(const functors::Sgd<float>& step, const float* w, const float* g,
                                            const float* buffer, float* out, float* out_buffer, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    float moved = buffer[i];
    out[i] = step.with_momentum(w[i], g[i], moved);
    out_buffer[i] = moved;
  }
}

ORT_TRAIN_VECTORIZED void adam(const functors::Adam<float>& step, const float* w, const float* g, const float* m,
                               const float* v, float* out, float* out_m, float* out_v, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    float first = m[i], second = v[i];
    out[i] = step(w[i], g[i], first, second);
    out_m[i] = first;
    out_v[i] = second;
  }
}

// The weight decides the format; gradient and slots follow.
class UpdateKernel : public Kernel {
 public:
  UpdateKernel(const Request& request, const std::vector<std::size_t>& arrays) : format_(request.input(0)) {
    name = "own flat";
    inputs = request.plain_inputs();
    for (const std::size_t index : arrays) inputs[index] = format_;
    outputs.assign(request.node.outputs().size(), format_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!request.has_output(i)) outputs[i] = Format();
    }
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }

 protected:
  template <typename Body>
  void for_each_range(const Body& body) const {
    ort_train::kernels::parallel_for(format_.stored_size(), ort_train::kernels::cheap_grain, body);
  }
  double learning_rate() const { return *pointers_.input<float>(2); }

  Format format_;
  Pointers pointers_;
};

class SgdKernel : public UpdateKernel {
 public:
  explicit SgdKernel(const Request& request)
      : UpdateKernel(request,
                     request.has_input(3) ? std::vector<std::size_t>{0, 1, 3} : std::vector<std::size_t>{0, 1}),
        step_{0, request.node.real("weight_decay", 0), request.node.real("momentum", 0),
              request.node.integer("nesterov", 0) != 0} {
    in_place = {{0, 0}};
    if (request.has_input(3)) in_place.push_back({1, 3});
  }

  void run() override {
    step_.learning_rate = static_cast<float>(learning_rate());
    const float *w = pointers_.input<float>(0), *g = pointers_.input<float>(1), *buffer = pointers_.input<float>(3);
    float *out = pointers_.output<float>(0), *out_buffer = pointers_.output<float>(1);
    for_each_range([&](std::int64_t begin, std::int64_t end) {
      if (buffer == nullptr) return sgd(step_, w + begin, g + begin, out + begin, end - begin);
      sgd_with_momentum(step_, w + begin, g + begin, buffer + begin, out + begin, out_buffer + begin, end - begin);
    });
  }

 private:
  functors::Sgd<float> step_;
};

class AdamKernel : public UpdateKernel {
 public:
  explicit AdamKernel(const Request& request) : UpdateKernel(request, {0, 1, 4, 5}) {
    const graph::Node& node = request.node;
    in_place = {{0, 0}, {1, 4}, {2, 5}};
    beta1_ = node.real("beta1", 0.9f);
    beta2_ = node.real("beta2", 0.999f);
    epsilon_ = node.real("epsilon", 1e-8f);
    weight_decay_ = node.real("weight_decay", 0);
    decoupled_ = node.integer("decoupled", 0) != 0;
  }

  void run() override {
    const auto step = functors::Adam<float>::at_step(*pointers_.input<std::int64_t>(3), learning_rate(), beta1_, beta2_,
                                                     epsilon_, weight_decay_, decoupled_);
    const float *w = pointers_.input<float>(0), *g = pointers_.input<float>(1);
    const float *m = pointers_.input<float>(4), *v = pointers_.input<float>(5);
    float *out = pointers_.output<float>(0), *out_m = pointers_.output<float>(1), *out_v = pointers_.output<float>(2);
    for_each_range([&](std::int64_t begin, std::int64_t end) {
      adam(step, w + begin, g + begin, m + begin, v + begin, out + begin, out_m + begin, out_v + begin, end - begin);
    });
  }

 private:
  double beta1_, beta2_, epsilon_, weight_decay_;
  bool decoupled_;
};

std::unique_ptr<Kernel> make_sgd(const Request& request) {
  if (request.input(0).dtype() != DataType::float32 || !request.has_output(0)) return nullptr;
  if (request.has_input(3) != request.has_output(1)) return nullptr;
  if (request.node.real("momentum", 0) != 0 && !request.has_input(3))
    return nullptr;  // the plain kernel says what is wrong
  return std::make_unique<SgdKernel>(request);
}

std::unique_ptr<Kernel> make_adam(const Request& request) {
  if (request.input(0).dtype() != DataType::float32) return nullptr;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!request.has_output(i)) return nullptr;
  }
  return std::make_unique<AdamKernel>(request);
}

const TrainingFactoryRegistration sgd_update("SgdUpdate", make_sgd);
const TrainingFactoryRegistration adam_update("AdamUpdate", make_adam);

}  // namespace

}  // namespace ort_train::runtime::cpu
