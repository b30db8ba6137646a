#include "runtime/cuda/lanes.h"

namespace ort_train::runtime::cuda {

std::optional<Lanes> lanes_along(const Format& format, std::int64_t axis) {
  Dims dims = format.dims();
  Dims strides[1] = {format.strides()};
  if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
  Lanes lanes;
  lanes.extent = dims.at(static_cast<std::size_t>(axis));
  lanes.stride = strides[0].at(static_cast<std::size_t>(axis));
  dims.erase(dims.begin() + axis);
  strides[0].erase(strides[0].begin() + axis);
  if (dims.size() > most_axes) return std::nullopt;
  lanes.count = element_count(dims);
  lanes.positions = strided_positions<1>(dims, strides);
  return lanes;
}

}  // namespace ort_train::runtime::cuda
