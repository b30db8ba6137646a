#include <algorithm>
#include <cstring>

#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

// For every axis of the sliced array: where to start, how far to step, how many elements to take.
struct Window {
  Dims starts, steps, extents;
};

// Negative positions count from the end, then all are clamped to the array, as the ONNX text of Slice says.
Window window_of(const Dims& dims, const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                 const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size()) {
    fail("starts, ends, axes and steps must be of equal length");
  }
  Window window{Dims(dims.size(), 0), Dims(dims.size(), 1), dims};
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

std::int64_t first_element(const Window& window, const Dims& strides) { return offset_of(window.starts, strides); }

Dims stepped_strides(const Window& window, Dims strides) {
  for (std::size_t axis = 0; axis < strides.size(); ++axis) strides[axis] *= window.steps[axis];
  return strides;
}

void compute_slice(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<std::int64_t> starts = integers_input(call, 1);
  const std::vector<std::int64_t> axes = integers_input(call, 3, all_axes(static_cast<std::int64_t>(starts.size())));
  const std::vector<std::int64_t> steps = integers_input(call, 4, std::vector<std::int64_t>(starts.size(), 1));
  const Window window =
      window_of(input.dims(), starts, integers_input(call, 2), normalized_axes(axes, input.rank()), steps);
  Tensor& out = output(call, 0, input.dtype(), window.extents);
  if (out.size() == 0) return;
  const Dims strides = row_major_strides(input.dims());
  const std::size_t element_size = size_of(input.dtype());
  const std::byte* source = input.raw() + first_element(window, strides) * static_cast<std::int64_t>(element_size);
  gather_strided(window.extents, source, stepped_strides(window, strides), out.raw(), element_size);
}

// The starts and steps are taken as they are, the extents are those of dY: the attribute 'ends' of a negative step may
// be -1 for "up to the first element", which Slice would read as the last one.
void compute_slice_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Dims dims = call.node.integers("input_shape");
  Window window{Dims(dims.size(), 0), Dims(dims.size(), 1), gradient.dims()};
  const std::vector<std::int64_t> starts = call.node.integers("starts");
  const std::vector<std::int64_t> axes =
      normalized_axes(call.node.integers("axes", all_axes(static_cast<std::int64_t>(starts.size()))),
                      static_cast<std::int64_t>(dims.size()));
  const std::vector<std::int64_t> steps = call.node.integers("steps", std::vector<std::int64_t>(starts.size(), 1));
  if (axes.size() != starts.size() || steps.size() != starts.size() || gradient.dims().size() != dims.size()) {
    fail("starts, axes and steps must be of equal length, and dY of the rank of the input");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    window.starts[static_cast<std::size_t>(axes[i])] = starts[i];
    window.steps[static_cast<std::size_t>(axes[i])] = steps[i];
  }
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t first = window.starts[axis];
    const std::int64_t last = first + (gradient.dims()[axis] - 1) * window.steps[axis];
    if (gradient.size() != 0 && (std::min(first, last) < 0 || std::max(first, last) >= dims[axis])) {
      fail("the slice leaves axis ", axis, " of the input ", to_string(dims));
    }
  }
  Tensor& out = output(call, 0, gradient.dtype(), dims);
  std::memset(out.raw(), 0, out.bytes());
  if (gradient.size() == 0) return;
  const Dims strides = row_major_strides(dims);
  const std::size_t element_size = size_of(gradient.dtype());
  std::byte* target = out.raw() + first_element(window, strides) * static_cast<std::int64_t>(element_size);
  copy_strided(gradient.dims(), gradient.raw(), row_major_strides(gradient.dims()), target,
               stepped_strides(window, strides), element_size);
}

const Registration slice("Slice", compute_slice);
const TrainingRegistration slice_grad("SliceGrad", compute_slice_grad);

}  // namespace

}  // namespace ort_train::kernels
