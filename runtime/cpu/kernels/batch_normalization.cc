// BatchNormalization in training, its gradient, and in inference: float32, channel-blocked or row-major.
//
// Every (sample, channel block) is reduced on its own and the results are combined in the order of the samples, in
// double precision, so the bits do not depend on the number of threads.
#include <cmath>
#include <cstring>

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernels/channel_loops.h"

namespace ort_train::runtime::cpu {

namespace {

// [samples, channels / block, size, block]
struct Layout {
  std::int64_t samples = 0, channels = 0, size = 0, block = 1;

  std::int64_t blocks() const { return channels / block; }
  std::int64_t tiles() const { return samples * blocks(); }
  std::int64_t tile_elements() const { return size * block; }
  // Elements of one channel.
  double count() const { return static_cast<double>(samples) * static_cast<double>(size); }

  // Calls body(first element, first channel, tile) for every tile, on all threads.
  template <typename Body>
  void for_each_tile(const Body& body) const {
    const std::int64_t grain = std::max<std::int64_t>(1, ort_train::kernels::cheap_grain / 2 / tile_elements());
    ort_train::kernels::parallel_for(tiles(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end; ++tile) {
        body(tile * tile_elements(), tile % blocks() * block, tile);
      }
    });
  }
};

Layout layout_of(const Format& format) {
  const Dims& dims = format.dims();
  Layout layout;
  layout.samples = dims[0];
  layout.channels = dims[1];
  layout.size = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) layout.size *= dims[i];
  layout.block = std::max<std::int64_t>(1, format.channel_block());
  return layout;
}

class NormalizationKernel : public Kernel {
 public:
  NormalizationKernel(const Request& request, const Format& format)
      : layout_(layout_of(format)),
        epsilon_(request.node.real("epsilon", 1e-5f)),
        relu_(request.node.string("activation", "") == "Relu") {
    name = layout_.block == 1 ? "own row-major" : "own blocked";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
    outputs[0] = format;
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }

 protected:
  // Rows of one number a channel, and then of one number a (sample, channel).
  float* channel_row(std::int64_t row) const {
    return reinterpret_cast<float*>(pointers_.scratchpad) + row * layout_.channels;
  }
  void reserve_rows(std::int64_t rows) {
    scratchpad_bytes = static_cast<std::size_t>(rows * layout_.channels) * sizeof(float);
  }

  Layout layout_;
  double epsilon_;
  bool relu_;
  Pointers pointers_;
};

class TrainingKernel : public NormalizationKernel {
 public:
  TrainingKernel(const Request& request, const Format& format)
      : NormalizationKernel(request, format), momentum_(request.node.real("momentum", 0.9f)) {
    inputs[0] = format;
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
    inputs[0] = inputs[1] = format;
    if (request.has_input(5)) inputs[5] = format;
    in_place = {{0, 0}};
    reserve_rows(3 + 2 * layout_.samples);
  }

  void run() override {
    with_block(layout_.block, [&](auto block) {
      using Loops = ChannelLoops<block()>;
      const float* dy = pointers_.input<float>(0);
      const float* x = pointers_.input<float>(1);
      const float* mean = pointers_.input<float>(3);
      const float* y = relu_ ? pointers_.input<float>(5) : nullptr;
      const auto at = [&](std::int64_t element) { return y == nullptr ? nullptr : y + element; };
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t tile) {
        Loops::gradient_sums(dy + element, x + element, at(element), layout_.size, mean + c,
                             sums() + tile * layout_.block, products() + tile * layout_.block);
      });
      for (std::int64_t c = 0; c < layout_.channels; ++c) combine(c);
      float* dx = pointers_.output<float>(0);
      if (dx == nullptr) return;
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t) {
        Loops::gradient(dy + element, x + element, at(element), dx + element, layout_.size, mean + c,
                        channel_row(0) + c, channel_row(1) + c, channel_row(2) + c);
      });
    });
  }

 private:
  float* sums() const { return channel_row(3); }
  float* products() const { return channel_row(3 + layout_.samples); }

  // dx = scale / deviation * (dy - mean(dy) - (x - mean) / variance * mean(dy * (x - mean)))
  void combine(std::int64_t c) {
    double sum = 0, product = 0;
    for (std::int64_t n = 0; n < layout_.samples; ++n) {
      sum += sums()[n * layout_.channels + c];
      product += products()[n * layout_.channels + c];
    }
    const double inverse_deviation = 1 / std::sqrt(pointers_.input<float>(4)[c] + epsilon_);
    const double factor = pointers_.input<float>(2)[c] * inverse_deviation;
    channel_row(0)[c] = static_cast<float>(factor);
    channel_row(1)[c] = static_cast<float>(factor * inverse_deviation * inverse_deviation * product / layout_.count());
    channel_row(2)[c] = static_cast<float>(factor * sum / layout_.count());
    if (float* out = pointers_.output<float>(1)) out[c] = static_cast<float>(product * inverse_deviation);
    if (float* out = pointers_.output<float>(2)) out[c] = static_cast<float>(sum);
  }
};

class InferenceKernel : public NormalizationKernel {
 public:
  InferenceKernel(const Request& request, const Format& format) : NormalizationKernel(request, format) {
    inputs[0] = format;
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

// Row-major channels shorter than this are better off with the plain kernel.
constexpr std::int64_t shortest_channel = 8;

bool fits(const Request& request, const Format& format) {
  if (!request.all_of_type(DataType::float32) || format.dims().size() < 2 || format.size() == 0) return false;
  const std::string activation = request.node.string("activation", "");
  if (!activation.empty() && activation != "Relu") return false;
  const Layout layout = layout_of(format);
  return layout.block > 1 || layout.size >= shortest_channel;
}

// Of the given inputs the first that is channel-blocked without padding, else row-major.
Format choose_format(const Request& request, const std::vector<std::size_t>& candidates) {
  for (const std::size_t index : candidates) {
    Format format = request.input(index);
    if (format.channel_block() != 0 && !format.has_padding()) return format;
  }
  return request.plain_input(0);
}

std::unique_ptr<Kernel> make_training(const Request& request) {
  const Format format = choose_format(request, {0});
  if (!fits(request, format) || !request.has_output(0)) return nullptr;
  return std::make_unique<TrainingKernel>(request, format);
}

std::unique_ptr<Kernel> make_gradient(const Request& request) {
  const Format format = choose_format(request, {1, 0});
  if (!fits(request, format)) return nullptr;
  return std::make_unique<GradientKernel>(request, format);
}

std::unique_ptr<Kernel> make_inference(const Request& request) {
  if (request.node.integer("training_mode", 0) != 0 || request.node.outputs().size() != 1) return nullptr;
  const Format format = choose_format(request, {0});
  if (!fits(request, format)) return nullptr;
  return std::make_unique<InferenceKernel>(request, format);
}

const FactoryRegistration inference("BatchNormalization", make_inference);
const TrainingFactoryRegistration training("BatchNormalizationTraining", make_training);
const TrainingFactoryRegistration gradient("BatchNormalizationGrad", make_gradient);

}  // namespace

}  // namespace ort_train::runtime::cpu
