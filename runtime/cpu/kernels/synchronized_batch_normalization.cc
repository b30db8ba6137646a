// Batch normalization over a batch that lies on several replicas, in the pieces between which sums are exchanged.
#include "runtime/cpu/kernels/normalization_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

/// ChannelSum and, where there is a mean, ChannelSquaredDeviation.
class SumKernel : public NormalizationKernel {
 public:
  SumKernel(const Request& request, const Format& format)
      : NormalizationKernel(request, format), has_mean_(request.has_input(1)) {
    inputs[0] = format;
    reserve_rows(layout_.samples);
  }

  void run() override {
    const float* x = pointers_.input<float>(0);
    const float* mean = has_mean_ ? pointers_.input<float>(1) : nullptr;
    float* sums = channel_row(0);
    with_block(layout_.block, [&](auto block) {
      using Loops = ChannelLoops<block()>;
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t tile) {
        float* sum = sums + tile * layout_.block;
        if (mean == nullptr) {
          Loops::sum(x + element, layout_.size, sum);
        } else {
          Loops::squared_deviation(x + element, layout_.size, mean + c, sum);
        }
      });
    });
    float* out = pointers_.output<float>(0);
    for (std::int64_t c = 0; c < layout_.channels; ++c) out[c] = static_cast<float>(over_samples(sums, c));
  }

 private:
  bool has_mean_;
};

/// (dY, X, batch_mean, batch_var[, Y]) -> dScale, dB
class GradientSumsKernel : public NormalizationKernel {
 public:
  GradientSumsKernel(const Request& request, const Format& format) : NormalizationKernel(request, format) {
    inputs[0] = inputs[1] = format;
    if (request.has_input(4)) inputs[4] = format;
    reserve_rows(2 * layout_.samples);
  }

  void run() override {
    const GradientOperands of = {pointers_.input<float>(0), pointers_.input<float>(1),
                                 relu_ ? pointers_.input<float>(4) : nullptr, pointers_.input<float>(2)};
    float* sums = channel_row(0);
    float* products = channel_row(layout_.samples);
    add_up(of, sums, products);
    float* scale_gradient = pointers_.output<float>(0);
    float* bias_gradient = pointers_.output<float>(1);
    for (std::int64_t c = 0; c < layout_.channels; ++c) {
      const double inverse = inverse_deviation(pointers_.input<float>(3)[c]);
      if (scale_gradient != nullptr) scale_gradient[c] = static_cast<float>(over_samples(products, c) * inverse);
      if (bias_gradient != nullptr) bias_gradient[c] = static_cast<float>(over_samples(sums, c));
    }
  }
};

/// (dY, X, scale, batch_mean, batch_var, dScale, dB[, Y]) -> dX
class GradientInputKernel : public NormalizationKernel {
 public:
  GradientInputKernel(const Request& request, const Format& format)
      : NormalizationKernel(request, format), count_(static_cast<double>(request.node.integer("count", 0))) {
    inputs[0] = inputs[1] = outputs[0] = format;
    if (request.has_input(7)) inputs[7] = format;
    in_place = {{0, 0}};
    reserve_rows(3);
  }

  void run() override {
    const float* scale = pointers_.input<float>(2);
    const float* variance = pointers_.input<float>(4);
    const float* scale_sums = pointers_.input<float>(5);
    const float* bias_sums = pointers_.input<float>(6);
    for (std::int64_t c = 0; c < layout_.channels; ++c) {
      set_gradient(c, scale[c], inverse_deviation(variance[c]), scale_sums[c], bias_sums[c], count_);
    }
    write_gradient({pointers_.input<float>(0), pointers_.input<float>(1), relu_ ? pointers_.input<float>(7) : nullptr,
                    pointers_.input<float>(3)},
                   pointers_.output<float>(0));
  }

 private:
  double count_;
};

std::unique_ptr<Kernel> make_sum(const Request& request) {
  const Format format = choose_format(request, {0});
  return is_normalizable(request, format) ? std::make_unique<SumKernel>(request, format) : nullptr;
}

std::unique_ptr<Kernel> make_gradient_sums(const Request& request) {
  const Format format = choose_format(request, {1, 0});
  return is_normalizable(request, format) ? std::make_unique<GradientSumsKernel>(request, format) : nullptr;
}

std::unique_ptr<Kernel> make_gradient_input(const Request& request) {
  const Format format = choose_format(request, {1, 0});
  return is_normalizable(request, format) ? std::make_unique<GradientInputKernel>(request, format) : nullptr;
}

const TrainingFactoryRegistration sum("ChannelSum", make_sum);
const TrainingFactoryRegistration squared_deviation("ChannelSquaredDeviation", make_sum);
const TrainingFactoryRegistration gradient_sums("BatchNormalizationGradSums", make_gradient_sums);
const TrainingFactoryRegistration gradient_input("BatchNormalizationGradInput", make_gradient_input);

}  // namespace

}  // namespace ort_train::runtime::cpu
