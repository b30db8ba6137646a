#pragma once

#include <cmath>
#include <limits>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/lanes.h"
#include "runtime/cuda/launch.h"

namespace ort_train::runtime::cuda {

/// Softmax of each lane, or its logarithm x - (max + log(sum(exp(x - max)))), with the sum in double. `y` may be `x`. A
/// NaN spreads over its lane by the sum.
template <typename T>
struct SoftmaxRows {
  In<T> x;
  Out<T> y;
  Lanes lanes;
  bool logarithmic;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t row, const Threads& threads) const {
    using C = Computed<T>;
    const std::int64_t first = lanes.first(row);
    const C largest = threads.reduce(
        lanes.extent, -std::numeric_limits<C>::infinity(),
        [&](std::int64_t k) { return loaded(x[first + k * lanes.stride]); }, [](C a, C b) { return b > a ? b : a; });
    const double sum = threads.reduce(
        lanes.extent, 0.0,
        [&](std::int64_t k) { return static_cast<double>(std::exp(loaded(x[first + k * lanes.stride]) - largest)); },
        [](double a, double b) { return a + b; });
    const double total = logarithmic ? largest + std::log(sum) : sum;
    threads.for_each(lanes.extent, [&](std::int64_t k) {
      const std::int64_t i = first + k * lanes.stride;
      const C element = loaded(x[i]);
      y[i] = stored<T>(logarithmic ? element - total : std::exp(element - largest) / total);
    });
  }
};

}  // namespace ort_train::runtime::cuda
