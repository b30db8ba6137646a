#pragma once

#include "base/tensor.h"

namespace ort_train::tests {

/// The largest difference between two arrays, relative to the elements of `expected` that are larger than 1; infinite
/// where the extents differ.
double largest_difference(const Tensor& expected, const Tensor& actual);

}  // namespace ort_train::tests
