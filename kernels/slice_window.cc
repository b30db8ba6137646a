#include "kernels/slice_window.h"

#include <algorithm>

#include "kernels/strided.h"

namespace ort_train::kernels {

SliceWindow slice_window(const Dims& dims, const std::vector<std::int64_t>& starts,
                         const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& axes,
                         const std::vector<std::int64_t>& steps) {
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size()) {
    fail("starts, ends, axes and steps must be of equal length");
  }
  SliceWindow window{Dims(dims.size(), 0), Dims(dims.size(), 1), dims};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t extent = dims[axis], step = steps[i];
    if (step == 0) fail("the step of a slice cannot be 0");
    const auto clamped = [extent](std::int64_t position, std::int64_t lowest, std::int64_t highest) {
      return std::clamp(position < 0 ? position + extent : position, lowest, std::max(lowest, highest));
    };
    const std::int64_t start = step > 0 ? clamped(starts[i], 0, extent) : clamped(starts[i], 0, extent - 1);
    const std::int64_t end = step > 0 ? clamped(ends[i], 0, extent) : clamped(ends[i], -1, extent - 1);
    const std::int64_t distance = end - start;
    window.starts[axis] = start;
    window.steps[axis] = step;
    // The quotient rounded up; a distance against the direction of the step leaves nothing.
    const bool forward = extent > 0 && (distance > 0) == (step > 0);
    window.extents[axis] = forward ? distance / step + (distance % step != 0 ? 1 : 0) : 0;
  }
  return window;
}

SliceWindow slice_gradient_window(const graph::Node& node, const Dims& gradient) {
  const Dims dims = node.integers("input_shape");
  SliceWindow window{Dims(dims.size(), 0), Dims(dims.size(), 1), gradient};
  const std::vector<std::int64_t> starts = node.integers("starts");
  const std::vector<std::int64_t> axes =
      normalized_axes(node.integers("axes", all_axes(static_cast<std::int64_t>(starts.size()))),
                      static_cast<std::int64_t>(dims.size()));
  const std::vector<std::int64_t> steps = node.integers("steps", std::vector<std::int64_t>(starts.size(), 1));
  if (axes.size() != starts.size() || steps.size() != starts.size() || gradient.size() != dims.size()) {
    fail("starts, axes and steps must be of equal length, and dY of the rank of the input");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    window.starts[static_cast<std::size_t>(axes[i])] = starts[i];
    window.steps[static_cast<std::size_t>(axes[i])] = steps[i];
  }
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t first = window.starts[axis];
    const std::int64_t last = first + (gradient[axis] - 1) * window.steps[axis];
    if (element_count(gradient) != 0 && (std::min(first, last) < 0 || std::max(first, last) >= dims[axis])) {
      fail("the slice leaves axis ", axis, " of the input ", to_string(dims));
    }
  }
  return window;
}

std::int64_t first_element(const SliceWindow& window, const Dims& strides) { return offset_of(window.starts, strides); }

Dims stepped_strides(const SliceWindow& window, Dims strides) {
  for (std::size_t axis = 0; axis < strides.size(); ++axis) strides[axis] *= window.steps[axis];
  return strides;
}

}  // namespace ort_train::kernels
