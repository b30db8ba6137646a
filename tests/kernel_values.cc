#include "tests/kernel_values.h"

#include <doctest/doctest.h>

#include <cmath>

namespace ort_train::tests {

Tensor grid(const Dims& dims, int seed, DataType dtype) {
  Tensor tensor(DataType::float64, dims);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.data<double>()[i] = static_cast<double>((7919 * i + 104729 * seed) % 101 - 50) / 32;
  }
  return tensor.cast(dtype);
}

Tensor tensor_of(const std::vector<double>& values, DataType dtype) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

Tensor tensor_of(const std::vector<double>& values, const Dims& dims, DataType dtype) {
  return Tensor::of<double>(dims, values).cast(dtype);
}

double relative_tolerance(DataType dtype) {
  switch (dtype) {
    case DataType::float64: return 1e-12;
    case DataType::float32: return 1e-6;
    case DataType::float16: return 0x1p-10;
    case DataType::bfloat16: return 0x1p-7;
    default: return 0;
  }
}

void check_each(const Tensor& actual, const Dims& dims, const std::vector<double>& expected, double absolute) {
  INFO(name_of(actual.dtype()));
  REQUIRE(to_string(actual.dims()) == to_string(dims));
  const std::vector<double> values = actual.to_doubles();
  REQUIRE(values.size() == expected.size());
  const double relative = relative_tolerance(actual.dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element ", i, " is ", values[i], ", expected ", expected[i]);
    const bool same = values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]));
    // Written so that a NaN fails.
    CHECK((same || std::fabs(values[i] - expected[i]) <= relative * std::fabs(expected[i]) + absolute));
  }
}

}  // namespace ort_train::tests
