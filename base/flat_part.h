#pragma once

#include <cstdint>

#include "base/tensor.h"

namespace ort_train {

/// Elements in each of `parts` equal parts that an array of `count` elements is cut into, the last ones filled up.
constexpr std::int64_t flat_part_size(std::int64_t count, std::int64_t parts) { return (count + parts - 1) / parts; }

/// Part `index` of `parts` of the elements in row-major order, [flat_part_size]; zeros where there are no more.
Tensor flat_part(const Tensor& whole, std::int64_t parts, std::int64_t index);

/// The same into memory for flat_part_size elements.
void copy_flat_part(const Tensor& whole, std::int64_t parts, std::int64_t index, std::byte* part);

}  // namespace ort_train
