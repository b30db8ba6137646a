#include "kernels/window.h"

#include <algorithm>

#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

std::int64_t divide_rounding_up(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

Dims checked_attribute(const graph::Node& node, const std::string& name, std::size_t count, std::int64_t fallback,
                       std::int64_t least) {
  Dims values = node.integers(name, Dims(count, fallback));
  if (values.size() != count) fail("the attribute '", name, "' needs ", count, " numbers, it has ", values.size());
  for (const std::int64_t value : values) {
    if (value < least) fail("the attribute '", name, "' cannot hold ", value);
  }
  return values;
}

Window attributes_of(const graph::Node& node, const Dims& kernel, std::size_t rank) {
  if (kernel.size() != rank) fail("a window of ", kernel.size(), " axes cannot move over ", rank, " spatial axes");
  Window window;
  window.kernel = kernel;
  window.strides = checked_attribute(node, "strides", rank, 1, 1);
  window.dilations = checked_attribute(node, "dilations", rank, 1, 1);
  const Dims pads = checked_attribute(node, "pads", 2 * rank, 0, 0);
  window.begin_pads.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.end_pads.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  return window;
}

// Elements that a window covers from its first tap to its last.
std::int64_t reach(const Window& window, std::size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

std::string auto_pad_of(const graph::Node& node) {
  std::string auto_pad = node.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") {
    fail("the attribute 'auto_pad' cannot be '", auto_pad, "'");
  }
  return auto_pad;
}

void resolve_auto_pad(Window& window, std::size_t axis, const std::string& auto_pad) {
  if (auto_pad == "NOTSET") return;
  std::int64_t total = 0;
  if (auto_pad != "VALID") {
    const std::int64_t output = divide_rounding_up(window.input[axis], window.strides[axis]);
    total = std::max<std::int64_t>(0, (output - 1) * window.strides[axis] + reach(window, axis) - window.input[axis]);
  }
  const std::int64_t less = total / 2, more = total - less;
  window.begin_pads[axis] = auto_pad == "SAME_LOWER" ? more : less;
  window.end_pads[axis] = auto_pad == "SAME_LOWER" ? less : more;
}

std::int64_t output_extent(const Window& window, std::size_t axis, bool ceil_mode) {
  const std::int64_t input = window.input[axis], stride = window.strides[axis];
  const std::int64_t padded = input + window.begin_pads[axis] + window.end_pads[axis];
  const std::int64_t way = padded - reach(window, axis);
  if (way < 0) fail("a window that covers ", reach(window, axis), " elements does not fit into ", padded);
  if (!ceil_mode) return way / stride + 1;
  const std::int64_t output = divide_rounding_up(way, stride) + 1;
  return (output - 1) * stride >= input + window.begin_pads[axis] ? output - 1 : output;
}

}  // namespace

Dims spatial_dims(const Dims& dims) {
  if (dims.size() < 3) fail("an array [N,C,D1,...] with spatial axes was expected, this one is ", to_string(dims));
  return {dims.begin() + 2, dims.end()};
}

Dims channel_dims(std::int64_t batch, std::int64_t channels, const Dims& spatial) {
  Dims dims{batch, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Window forward_window(const graph::Node& node, const Dims& input, const Dims& kernel) {
  Window window = attributes_of(node, kernel, input.size());
  window.input = input;
  const std::string auto_pad = auto_pad_of(node);
  const bool ceil_mode = node.integer("ceil_mode", 0) != 0;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    resolve_auto_pad(window, axis, auto_pad);
    window.output.push_back(output_extent(window, axis, ceil_mode));
  }
  return window;
}

Window transposed_window(const graph::Node& node, const Dims& input, const Dims& kernel) {
  Window window = attributes_of(node, kernel, input.size());
  window.output = input;
  const std::string auto_pad = auto_pad_of(node);
  const Dims more = checked_attribute(node, "output_padding", input.size(), 0, 0);
  Dims asked = node.integers("output_shape");
  // Some exporters give the whole shape, batch and channels included.
  if (asked.size() == input.size() + 2) asked.erase(asked.begin(), asked.begin() + 2);
  if (!asked.empty() && asked.size() != input.size())
    fail("the attribute 'output_shape' needs ", input.size(), " numbers");
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    const std::int64_t full = window.strides[axis] * (input[axis] - 1) + more[axis] + reach(window, axis);
    if (asked.empty() && (auto_pad == "NOTSET" || auto_pad == "VALID")) {
      if (auto_pad == "VALID") window.begin_pads[axis] = window.end_pads[axis] = 0;
      window.input.push_back(full - window.begin_pads[axis] - window.end_pads[axis]);
      continue;
    }
    window.input.push_back(asked.empty() ? input[axis] * window.strides[axis] : asked[axis]);
    const std::int64_t total = std::max<std::int64_t>(0, full - window.input[axis]);
    window.begin_pads[axis] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.end_pads[axis] = total - window.begin_pads[axis];
  }
  return window;
}

WindowTable::WindowTable(const Window& window) {
  const std::size_t last = window.input.size() - 1;
  row_length_ = window.output[last];
  stride_ = window.strides[last];
  for (std::int64_t tap = 0; tap < window.kernel[last]; ++tap) {
    const std::int64_t shift = tap * window.dilations[last] - window.begin_pads[last];
    const std::int64_t begin = std::clamp<std::int64_t>(divide_rounding_up(-shift, stride_), 0, row_length_);
    const std::int64_t end =
        std::clamp<std::int64_t>(divide_rounding_up(window.input[last] - shift, stride_), begin, row_length_);
    row_taps_.push_back({begin, end, shift});
  }

  const auto front = [last](const Dims& values) {
    return Dims(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(last));
  };
  const Dims outputs = front(window.output), taps = front(window.kernel);
  const Dims input_strides = row_major_strides(window.input);
  rows_ = element_count(outputs);
  outer_taps_ = element_count(taps);
  if (rows_ == 0 || outer_taps_ == 0) return;
  row_offsets_.reserve(static_cast<std::size_t>(rows_ * outer_taps_));
  Dims tap(last, 0);
  do {
    Dims position(last, 0);
    do {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < last; ++axis) {
        const std::int64_t at =
            position[axis] * window.strides[axis] + tap[axis] * window.dilations[axis] - window.begin_pads[axis];
        if (at < 0 || at >= window.input[axis]) {
          offset = -1;
          break;
        }
        offset += at * input_strides[axis];
      }
      row_offsets_.push_back(offset);
    } while (advance(position, outputs));
  } while (advance(tap, taps));
}

}  // namespace ort_train::kernels
