#include "tests/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ort_train::tests {

double largest_difference(const Tensor& expected, const Tensor& actual) {
  if (expected.dims() != actual.dims()) return std::numeric_limits<double>::infinity();
  const std::vector<double> left = expected.to_doubles(), right = actual.to_doubles();
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    largest = std::max(largest, std::abs(left[i] - right[i]) / std::max(1.0, std::abs(left[i])));
  }
  return largest;
}

}  // namespace ort_train::tests
