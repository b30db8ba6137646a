#include "kernels/indexing.h"

namespace ort_train::kernels {

std::vector<std::int64_t> integers_input(const Invocation& call, std::size_t index,
                                         std::vector<std::int64_t> fallback) {
  return call.has_input(index) ? call.inputs[index].to_int64s() : fallback;
}

std::int64_t integer_input_or(const Invocation& call, std::size_t index, std::int64_t fallback) {
  return call.has_input(index) ? integer_input(call, index) : fallback;
}

std::vector<std::int64_t> normalized_axes(std::vector<std::int64_t> axes, std::int64_t rank) {
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  for (std::int64_t& axis : axes) {
    axis = normalized_axis(axis, rank);
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

std::int64_t checked_index(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) {
    fail("the index ", index, " is outside an axis of ", extent, " elements");
  }
  return index < 0 ? index + extent : index;
}

}  // namespace ort_train::kernels
