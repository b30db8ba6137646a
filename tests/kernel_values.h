#pragma once

#include <limits>
#include <vector>

#include "tests/kernel_case.h"

// Numbers for tests of kernels: inputs that every floating-point type holds exactly, results compared one by one.
namespace ort_train::tests {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline const std::vector<DataType> floating_types = {DataType::float64, DataType::float32, DataType::float16,
                                                     DataType::bfloat16};

/// Multiples of 1/32 in [-50/32, 50/32] that look random: ((7919 i + 104729 seed) mod 101 - 50) / 32.
Tensor grid(const Dims& dims, int seed, DataType dtype = DataType::float64);

/// The given numbers as elements of `dtype`; a rank-1 tensor unless `dims` says otherwise.
Tensor tensor_of(const std::vector<double>& values, DataType dtype = DataType::float64);
Tensor tensor_of(const std::vector<double>& values, const Dims& dims, DataType dtype = DataType::float64);

/// How far a result may be from the expected one, as a share of it: 1e-12 in float64, 1e-6 in float32, 2^-10 in
/// float16, 2^-7 in bfloat16, nothing in other types.
double relative_tolerance(DataType dtype);

/// Extents, and every element within the tolerance of its type plus `absolute`; NaN equals NaN.
void check_each(const Tensor& actual, const Dims& dims, const std::vector<double>& expected, double absolute = 0);

}  // namespace ort_train::tests
