#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tensor.h"

namespace ort_train::kernels {

/// Copies an array of extents `dims` from one strided place to another. Strides count elements and may be 0 (repeat) or
/// negative (backwards); `source` and `target` point at the element whose indices are all 0.
void copy_strided(const Dims& dims, const std::byte* source, const Dims& source_strides, std::byte* target,
                  const Dims& target_strides, std::size_t element_size);

/// The same into a dense row-major target.
void gather_strided(const Dims& dims, const std::byte* source, const Dims& source_strides, std::byte* target,
                    std::size_t element_size);

/// Steps `index` to the next position of an array of extents `dims`, the last axis fastest; false after the last one.
bool advance(Dims& index, const Dims& dims);

/// The sum of index * stride over all axes.
std::int64_t offset_of(const Dims& index, const Dims& strides);

}  // namespace ort_train::kernels
