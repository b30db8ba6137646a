#pragma once

#include <cstddef>
#include <span>

#include "base/data_type.h"

namespace ort_train::runtime {

/// Whether `add_in_order` knows the type: floating-point types, int64 and int32.
bool has_sum(DataType dtype);

/// What partial sums of the type are kept in: float32 for the 16-bit types, so that only the whole sum is rounded.
DataType sum_type(DataType dtype);

/// Element by element ((operand 0 + operand 1) + operand 2) ..., written to every result. `from` is the type of the
/// operands and `to` that of the results: the same, or one is the sum_type of the other. Integers wrap around. An
/// operand may be a result, too; otherwise they do not overlap.
void add_in_order(DataType from, std::span<const void* const> operands, DataType to, std::span<void* const> results,
                  std::size_t count);

}  // namespace ort_train::runtime
