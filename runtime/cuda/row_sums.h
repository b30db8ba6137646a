#pragma once

#include <cmath>

#include "runtime/cuda/launch.h"

// What the normalizations of rows compute with: sums over a row by all threads that work on it, in double precision.
namespace ort_train::runtime::cuda {

/// The sum of term(i) for all i < count.
template <typename Threads, typename Term>
__host__ __device__ double row_sum(const Threads& threads, std::int64_t count, const Term& term) {
  return threads.reduce(count, 0.0, term, [](double a, double b) { return a + b; });
}

struct RowStatistics {
  double mean, inverse_deviation;
};

/// Of the numbers x(i); the variance is taken around the mean, or around 0 where `centered` is false.
template <typename Threads, typename Number>
__host__ __device__ RowStatistics row_statistics(const Threads& threads, std::int64_t count, double epsilon,
                                                 bool centered, const Number& x) {
  const auto length = static_cast<double>(count);
  const double mean = centered ? row_sum(threads, count, x) / length : 0.0;
  const double squares = row_sum(threads, count, [&](std::int64_t i) {
    const double difference = x(i) - mean;
    return difference * difference;
  });
  return {mean, 1 / std::sqrt(squares / length + epsilon)};
}

}  // namespace ort_train::runtime::cuda
