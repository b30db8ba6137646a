#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ort_train::kernels {

/// Elements below which a second thread costs more than it saves, for arithmetic as cheap as an addition.
inline constexpr std::int64_t cheap_grain = 32768;
/// The same for elements that cost about as much as an exponential.
inline constexpr std::int64_t costly_grain = 4096;

/// Calls `body(begin, end)` on ranges that together are [0, count), on several threads when there are more than `grain`
/// elements. `body` must not throw, and its results must not depend on where the ranges are cut.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  const std::int64_t wanted = (count + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<std::int64_t>(omp_get_max_threads(), wanted));
  if (threads <= 1 || omp_in_parallel()) {
    body(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = omp_get_num_threads();
    const std::int64_t member = omp_get_thread_num();
    const std::int64_t begin = count * member / team;
    const std::int64_t end = count * (member + 1) / team;
    if (begin < end) body(begin, end);
  }
}

/// The sum of `term(i)`, a double, for i in [0, count). Terms are added within blocks of fixed length and the blocks in
/// order, so that the bits do not depend on the number of threads, and the rounding error stays small.
template <typename Term>
double parallel_sum(std::int64_t count, const Term& term) {
  constexpr std::int64_t block = 4096;
  std::vector<double> sums(static_cast<std::size_t>((count + block - 1) / block), 0.0);
  parallel_for(static_cast<std::int64_t>(sums.size()), 2, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b) {
      double sum = 0;
      for (std::int64_t i = b * block; i < std::min(count, (b + 1) * block); ++i) sum += term(i);
      sums[static_cast<std::size_t>(b)] = sum;
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace ort_train::kernels
