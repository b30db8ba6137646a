#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernels/channel_loops.h"

// What the kernels of batch normalization share: float32, channel-blocked or row-major.
//
// Every (sample, channel block) is reduced on its own and the results are combined in the order of the samples, in
// double precision, so the bits do not depend on the number of threads.
namespace ort_train::runtime::cpu {

/// [samples, channels / block, size, block]
struct ChannelLayout {
  std::int64_t samples = 0, channels = 0, size = 0, block = 1;

  std::int64_t blocks() const { return channels / block; }
  std::int64_t tiles() const { return samples * blocks(); }
  std::int64_t tile_elements() const { return size * block; }
  /// Elements of one channel.
  double count() const { return static_cast<double>(samples) * static_cast<double>(size); }

  /// Calls body(first element, first channel, tile) for every tile, on all threads.
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

inline ChannelLayout channel_layout_of(const Format& format) {
  const Dims& dims = format.dims();
  ChannelLayout layout;
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
      : layout_(channel_layout_of(format)),
        epsilon_(request.node.real("epsilon", 1e-5f)),
        relu_(request.node.string("activation", "") == "Relu") {
    name = layout_.block == 1 ? "own row-major" : "own blocked";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }

 protected:
  /// Rows of one number a channel, and then of one number a (sample, channel).
  float* channel_row(std::int64_t row) const {
    return reinterpret_cast<float*>(pointers_.scratchpad) + row * layout_.channels;
  }
  void reserve_rows(std::int64_t rows) {
    scratchpad_bytes = static_cast<std::size_t>(rows * layout_.channels) * sizeof(float);
  }

  /// The sum of a row of one number a (sample, channel) over the samples, in their order.
  double over_samples(const float* row, std::int64_t channel) const {
    double sum = 0;
    for (std::int64_t n = 0; n < layout_.samples; ++n) sum += row[n * layout_.channels + channel];
    return sum;
  }

  /// dy counts only where y > 0, unless y is null.
  struct GradientOperands {
    const float *dy, *x, *y, *mean;
    const float* y_at(std::int64_t element) const { return y == nullptr ? nullptr : y + element; }
  };

  /// For every (sample, channel) the sums of dy and of dy * (x - mean).
  void add_up(const GradientOperands& of, float* sums, float* products) const {
    with_block(layout_.block, [&](auto block) {
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t tile) {
        ChannelLoops<block()>::gradient_sums(of.dy + element, of.x + element, of.y_at(element), layout_.size,
                                             of.mean + c, sums + tile * layout_.block, products + tile * layout_.block);
      });
    });
  }

  /// dx = scale / deviation * (dy - bias_sum / count - (x - mean) / deviation * scale_sum / count), where the sums are
  /// those of dy and of dy * (x - mean) / deviation over `count` elements of channel c. Sets up rows 0 to 2.
  void set_gradient(std::int64_t c, double scale, double inverse_deviation, double scale_sum, double bias_sum,
                    double count) const {
    const double factor = scale * inverse_deviation;
    channel_row(0)[c] = static_cast<float>(factor);
    channel_row(1)[c] = static_cast<float>(factor * inverse_deviation * scale_sum / count);
    channel_row(2)[c] = static_cast<float>(factor * bias_sum / count);
  }

  /// With the rows that set_gradient wrote for every channel.
  void write_gradient(const GradientOperands& of, float* dx) const {
    with_block(layout_.block, [&](auto block) {
      layout_.for_each_tile([&](std::int64_t element, std::int64_t c, std::int64_t) {
        ChannelLoops<block()>::gradient(of.dy + element, of.x + element, of.y_at(element), dx + element, layout_.size,
                                        of.mean + c, channel_row(0) + c, channel_row(1) + c, channel_row(2) + c);
      });
    });
  }

  double inverse_deviation(float variance) const { return 1 / std::sqrt(variance + epsilon_); }

  ChannelLayout layout_;
  double epsilon_;
  bool relu_;
  Pointers pointers_;
};

/// Row-major channels shorter than this are better off with the plain kernel.
inline constexpr std::int64_t shortest_channel = 8;

inline bool is_normalizable(const Request& request, const Format& format) {
  if (!request.all_of_type(DataType::float32) || format.dims().size() < 2 || format.size() == 0) return false;
  const std::string activation = request.node.string("activation", "");
  if (!activation.empty() && activation != "Relu") return false;
  const ChannelLayout layout = channel_layout_of(format);
  return layout.block > 1 || layout.size >= shortest_channel;
}

/// Of the given inputs the first that is channel-blocked without padding, else row-major.
inline Format choose_format(const Request& request, const std::vector<std::size_t>& candidates) {
  for (const std::size_t index : candidates) {
    Format format = request.input(index);
    if (format.channel_block() != 0 && !format.has_padding()) return format;
  }
  return request.plain_input(0);
}

}  // namespace ort_train::runtime::cpu
