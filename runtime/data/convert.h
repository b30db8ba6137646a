#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"

namespace ort_train::data {

/// Converts `count` elements from one type to another. Integers and bools go to any type; floating-point numbers only
/// to floating-point types. Throws when an integer does not fit, rather than give another number.
void convert_elements(DataType from, const std::byte* source, DataType to, std::byte* target, std::int64_t count);

/// Whether `convert_elements` takes this pair of types.
bool is_convertible(DataType from, DataType to);

}  // namespace ort_train::data
