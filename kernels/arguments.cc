#include "kernels/arguments.h"

namespace ort_train::kernels {

bool wants_output(const Invocation& call, std::size_t index) {
  return call.has_output(index) || call.node.output(static_cast<int>(index)) != nullptr;
}

Tensor& output(Invocation& call, std::size_t index, DataType dtype, const Dims& dims) {
  Tensor& tensor = call.outputs.at(index);
  if (!tensor.defined()) {
    tensor = Tensor(dtype, dims);
  } else if (tensor.dtype() != dtype || tensor.dims() != dims) {
    fail("output ", index, " was expected as ", name_of(tensor.dtype()), to_string(tensor.dims()), " but is ",
         name_of(dtype), to_string(dims));
  }
  return tensor;
}

std::vector<std::int64_t> integers_input(const Invocation& call, std::size_t index,
                                         std::vector<std::int64_t> fallback) {
  return call.has_input(index) ? call.inputs[index].to_int64s() : fallback;
}

std::int64_t integer_input(const Invocation& call, std::size_t index, std::int64_t fallback) {
  if (!call.has_input(index)) return fallback;
  const std::vector<std::int64_t> values = call.inputs[index].to_int64s();
  if (values.size() != 1) fail("input ", index, " must have one element, it has ", values.size());
  return values[0];
}

std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) fail("axis ", axis, " is outside the ", rank, " axes of the input");
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> normalize_axes(std::vector<std::int64_t> axes, std::int64_t rank) {
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  for (std::int64_t& axis : axes) {
    axis = normalize_axis(axis, rank);
    if (seen[static_cast<std::size_t>(axis)]) fail("axis ", axis, " is named twice");
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return axes;
}

std::vector<std::int64_t> all_axes(std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

AxisSplit split_at_axis(const Dims& dims, std::int64_t axis) {
  AxisSplit split;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    (position < axis ? split.outer : position == axis ? split.extent : split.inner) *= dims[i];
  }
  return split;
}

std::int64_t checked_index(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) {
    fail("the index ", index, " is outside an axis of ", extent, " elements");
  }
  return index < 0 ? index + extent : index;
}

}  // namespace ort_train::kernels
