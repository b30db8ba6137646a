#pragma once

#include "graph/graph.h"

namespace ort_train::kernels {

/// How a convolution or pooling window moves, one number for every spatial axis. Extents are those of one channel.
struct Window {
  Dims input, kernel, output;
  Dims strides, dilations, begin_pads, end_pads;

  /// Elements of one channel, and taps of the window.
  std::int64_t input_size() const { return element_count(input); }
  std::int64_t output_size() const { return element_count(output); }
  std::int64_t kernel_size() const { return element_count(kernel); }
};

/// The window of a Conv or pooling node over inputs of the spatial extents `input`: its attributes strides, pads,
/// dilations, auto_pad and ceil_mode, with their ONNX defaults. Formulas: ONNX text of MaxPool and AveragePool, where a
/// window of ceil_mode that would start in the padding behind the input is left out.
Window forward_window(const graph::Node& node, const Dims& input, const Dims& kernel);

/// The window of a ConvTranspose node over X of the spatial extents `input`. It is the convolution whose gradient the
/// node computes: its `output` is X and its `input` is Y. Honours output_shape, output_padding and auto_pad.
Window transposed_window(const graph::Node& node, const Dims& input, const Dims& kernel);

/// The extents behind the batch and the channel axis; throws unless there is at least one.
Dims spatial_dims(const Dims& dims);

/// [batch, channels, spatial...].
Dims channel_dims(std::int64_t batch, std::int64_t channels, const Dims& spatial);

/// Where the taps of a window lie in a dense row-major channel. All axes but the last are tabled; along the last one
/// output element o and tap t meet input element o * stride + shift(t). Loops over it are then contiguous.
class WindowTable {
 public:
  explicit WindowTable(const Window& window);

  /// Output positions, and taps, of all axes but the last one.
  std::int64_t rows() const { return rows_; }
  std::int64_t outer_taps() const { return outer_taps_; }
  /// Output positions, and taps, along the last axis.
  std::int64_t row_length() const { return row_length_; }
  std::int64_t row_taps() const { return static_cast<std::int64_t>(row_taps_.size()); }
  std::int64_t stride() const { return stride_; }

  /// Where in the channel the input row lies that this output row and tap meet; negative in the padding.
  std::int64_t row_offset(std::int64_t row, std::int64_t outer_tap) const {
    return row_offsets_[static_cast<std::size_t>(outer_tap * rows_ + row)];
  }

  /// Output elements [begin, end) of a row meet input elements; the others meet the padding.
  struct RowTap {
    std::int64_t begin, end, shift;
  };
  const RowTap& row_tap(std::int64_t tap) const { return row_taps_[static_cast<std::size_t>(tap)]; }

  /// Calls visit(output offset, input offset, count, tap) for every piece of an output row that meets input elements,
  /// tap after tap in row-major order. Output elements are neighbours, input elements lie stride() apart.
  template <typename Visit>
  void for_each_run(const Visit& visit) const {
    for (std::int64_t tap = 0; tap < outer_taps_ * row_taps(); ++tap) {
      for_each_run_of_tap(tap,
                          [&](std::int64_t out, std::int64_t in, std::int64_t count) { visit(out, in, count, tap); });
    }
  }

  /// The same for one tap.
  template <typename Visit>
  void for_each_run_of_tap(std::int64_t tap, const Visit& visit) const {
    const RowTap& along = row_tap(tap % row_taps());
    if (along.begin >= along.end) return;
    const std::int64_t first = along.begin * stride_ + along.shift;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const std::int64_t offset = row_offset(row, tap / row_taps());
      if (offset >= 0) visit(row * row_length_ + along.begin, offset + first, along.end - along.begin);
    }
  }

 private:
  std::int64_t rows_ = 1, outer_taps_ = 1, row_length_ = 1, stride_ = 1;
  std::vector<std::int64_t> row_offsets_;
  std::vector<RowTap> row_taps_;
};

}  // namespace ort_train::kernels
