// BatchNormalization in training, its gradient, and in inference.
#include <cmath>

#include "runtime/cpu/kernels/normalization_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

class TrainingKernel : public NormalizationKernel {
 public:
  TrainingKernel(const Request& request, const Format& format)
      : NormalizationKernel(request, format), momentum_(request.node.real("momentum", 0.9f)) {
    inputs[0] = outputs[0] = format;
    in_place = {{1, 3}, {2, 4}};
    reserve_rows(3 + 2 * layout_.samples);
  }

  void run() override {
    with_block(layout_.block, [&](auto block) {
      using Loops = ChannelLoops<block()>;
      const float* x = pointers_.input<float>(0);
      layout_.for_each_tile([&](std::int64_t element, std::int64_t, std::int64_t tile) {
        Loops::moments(x + element, layout_.size, means() + tile * layout_.block, squares() + tile * layout_.block);
      });
      for (std::int64_t c = 0; c < layout_.channels; ++c) combine(c);
      float* y = pointers_.output<float>(0);
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t) {
        Loops::normalize(x + element, y + element, layout_.size, channel_row(0) + c, channel_row(1) + c,
                         channel_row(2) + c, relu_);
      });
    });
  }

 private:
  float* means() const { return channel_row(3); }
  float* squares() const { return channel_row(3 + layout_.samples); }

  // Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979), for
  // parts of equal size.
  void combine(std::int64_t c) {
    double mean = 0, squares_within = 0, squares_between = 0;
    for (std::int64_t n = 0; n < layout_.samples; ++n) {
      mean += means()[n * layout_.channels + c];
      squares_within += squares()[n * layout_.channels + c];
    }
    mean /= static_cast<double>(layout_.samples);
    for (std::int64_t n = 0; n < layout_.samples; ++n) {
      const double difference = means()[n * layout_.channels + c] - mean;
      squares_between += difference * difference;
    }
    const double variance = (squares_within + static_cast<double>(layout_.size) * squares_between) / layout_.count();
    channel_row(0)[c] = static_cast<float>(mean);
    channel_row(1)[c] = static_cast<float>(pointers_.input<float>(1)[c] / std::sqrt(variance + epsilon_));
    channel_row(2)[c] = pointers_.input<float>(2)[c];
    store(1, 3, c, mean);
    store(2, 4, c, variance);
    if (float* out = pointers_.output<float>(3)) out[c] = static_cast<float>(mean);
    if (float* out = pointers_.output<float>(4)) out[c] = static_cast<float>(variance);
  }

  void store(std::size_t output, std::size_t input, std::int64_t c, double batch) {
    float* running = pointers_.output<float>(output);
    if (running == nullptr) return;
    running[c] = static_cast<float>(pointers_.input<float>(input)[c] * momentum_ + batch * (1 - momentum_));
  }

  double momentum_;
};

class GradientKernel : public NormalizationKernel {
 public:
  GradientKernel(const Request& request, const Format& format) : NormalizationKernel(request, format) {
    inputs[0] = inputs[1] = outputs[0] = format;
    if (request.has_input(5)) inputs[5] = format;
    in_place = {{0, 0}};
    reserve_rows(3 + 2 * layout_.samples);
  }

  void run() override {
    const GradientOperands of = {pointers_.input<float>(0), pointers_.input<float>(1),
                                 relu_ ? pointers_.input<float>(5) : nullptr, pointers_.input<float>(3)};
    float* sums = channel_row(3);
    float* products = channel_row(3 + layout_.samples);
    add_up(of, sums, products);
    for (std::int64_t c = 0; c < layout_.channels; ++c) combine(c, over_samples(products, c), over_samples(sums, c));
    if (float* dx = pointers_.output<float>(0)) write_gradient(of, dx);
  }

 private:
  void combine(std::int64_t c, double product, double sum) {
    const double inverse = inverse_deviation(pointers_.input<float>(4)[c]);
    set_gradient(c, pointers_.input<float>(2)[c], inverse, product * inverse, sum, layout_.count());
    if (float* out = pointers_.output<float>(1)) out[c] = static_cast<float>(product * inverse);
    if (float* out = pointers_.output<float>(2)) out[c] = static_cast<float>(sum);
  }
};

class InferenceKernel : public NormalizationKernel {
 public:
  InferenceKernel(const Request& request, const Format& format) : NormalizationKernel(request, format) {
    inputs[0] = outputs[0] = format;
    in_place = {{0, 0}};
    reserve_rows(1);
  }

  void run() override {
    const float* scale = pointers_.input<float>(1);
    const float* shift = pointers_.input<float>(2);
    const float* mean = pointers_.input<float>(3);
    const float* variance = pointers_.input<float>(4);
    float* factor = channel_row(0);
    for (std::int64_t c = 0; c < layout_.channels; ++c) {
      factor[c] = static_cast<float>(scale[c] / std::sqrt(variance[c] + epsilon_));
    }
    const float* x = pointers_.input<float>(0);
    float* y = pointers_.output<float>(0);
    with_block(layout_.block, [&](auto block) {
      using Loops = ChannelLoops<block()>;
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t) {
        Loops::normalize(x + element, y + element, layout_.size, mean + c, factor + c, shift + c, relu_);
      });
    });
  }
};

std::unique_ptr<Kernel> make_training(const Request& request) {
  const Format format = choose_format(request, {0});
  if (!is_normalizable(request, format) || !request.has_output(0)) return nullptr;
  return std::make_unique<TrainingKernel>(request, format);
}

std::unique_ptr<Kernel> make_gradient(const Request& request) {
  const Format format = choose_format(request, {1, 0});
  if (!is_normalizable(request, format)) return nullptr;
  return std::make_unique<GradientKernel>(request, format);
}

std::unique_ptr<Kernel> make_inference(const Request& request) {
  if (request.node.integer("training_mode", 0) != 0 || request.node.outputs().size() != 1) return nullptr;
  const Format format = choose_format(request, {0});
  if (!is_normalizable(request, format)) return nullptr;
  return std::make_unique<InferenceKernel>(request, format);
}

const FactoryRegistration inference("BatchNormalization", make_inference);
const TrainingFactoryRegistration training("BatchNormalizationTraining", make_training);
const TrainingFactoryRegistration gradient("BatchNormalizationGrad", make_gradient);

}  // namespace

}  // namespace ort_train::runtime::cpu
