#include <algorithm>
#include <cstring>

#include "kernels/indexing.h"

namespace ort_train::kernels {

namespace {

void compute_shape(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamped = [rank](std::int64_t position) {
    return std::clamp<std::int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  const std::int64_t start = clamped(call.node.integer("start", 0));
  const std::int64_t end = std::max(start, clamped(call.node.integer("end", rank)));
  Tensor& shape = output(call, 0, DataType::int64, {end - start});
  std::copy(dims.begin() + start, dims.begin() + end, shape.data<std::int64_t>());
}

void compute_size(Invocation& call) {
  *output(call, 0, DataType::int64, {}).data<std::int64_t>() = call.inputs[0].size();
}

// The elements of a dense array stay in order whatever its extents are called.
void copy_as(Invocation& call, const Dims& dims) {
  const Tensor& input = call.inputs[0];
  if (element_count(dims) != input.size()) {
    fail("the ", input.size(), " elements of shape ", to_string(input.dims()), " do not fill ", to_string(dims));
  }
  Tensor& out = output(call, 0, input.dtype(), dims);
  if (input.dtype() == DataType::string) {
    out.strings() = input.strings();
  } else {
    std::memcpy(out.raw(), input.raw(), input.bytes());
  }
}

void compute_reshape(Invocation& call) {
  const Tensor& input = call.inputs[0];
  Dims dims = call.inputs[1].to_int64s();
  const bool allow_zero = call.node.integer("allowzero", 0) != 0;
  std::int64_t free_axis = -1;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (i >= input.dims().size()) fail("the requested shape copies axis ", i, ", which the input does not have");
      dims[i] = input.dims()[i];
    }
    if (dims[i] == -1) {
      if (free_axis >= 0) fail("the requested shape ", to_string(dims), " leaves more than one extent open");
      free_axis = static_cast<std::int64_t>(i);
    } else {
      known *= dims[i];
    }
  }
  if (free_axis >= 0) {
    if (known == 0) fail("the open extent of the requested shape ", to_string(dims), " has no single value");
    dims[static_cast<std::size_t>(free_axis)] = input.size() / known;
  }
  copy_as(call, dims);
}

void compute_flatten(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  std::int64_t axis = call.node.integer("axis", 1);
  if (axis < -rank || axis > rank) fail("axis ", axis, " is outside [-", rank, ", ", rank, "]");
  if (axis < 0) axis += rank;
  const std::span<const std::int64_t> all(dims);
  const auto front = static_cast<std::size_t>(axis);
  copy_as(call, {element_count(all.first(front)), element_count(all.subspan(front))});
}

void compute_squeeze(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  std::vector<bool> removed(dims.size(), false);
  if (call.has_input(1)) {
    for (const std::int64_t axis : normalized_axes(integers_input(call, 1), call.inputs[0].rank())) {
      const auto i = static_cast<std::size_t>(axis);
      if (dims[i] != 1) fail("axis ", axis, " of ", to_string(dims), " cannot be removed, its extent is not 1");
      removed[i] = true;
    }
  } else {
    for (std::size_t i = 0; i < dims.size(); ++i) removed[i] = dims[i] == 1;
  }
  Dims kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!removed[i]) kept.push_back(dims[i]);
  }
  copy_as(call, kept);
}

void compute_unsqueeze(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  const std::vector<std::int64_t> axes = integers_input(call, 1);
  const std::size_t rank = dims.size() + axes.size();
  Dims widened(rank, 0);
  for (const std::int64_t axis : normalized_axes(axes, static_cast<std::int64_t>(rank))) {
    widened[static_cast<std::size_t>(axis)] = -1;
  }
  std::size_t next = 0;
  for (std::int64_t& extent : widened) extent = extent == -1 ? 1 : dims[next++];
  copy_as(call, widened);
}

const Registration shape("Shape", compute_shape);
const Registration size("Size", compute_size);
const Registration reshape("Reshape", compute_reshape);
const Registration flatten("Flatten", compute_flatten);
const Registration squeeze("Squeeze", compute_squeeze);
const Registration unsqueeze("Unsqueeze", compute_unsqueeze);

}  // namespace

}  // namespace ort_train::kernels
