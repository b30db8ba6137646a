#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/parallel.h"

namespace ort_train::kernels {

/// What products of T are added up in: wide enough that sums of thousands stay exact to the last bits of T.
template <typename T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double,
                                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// A matrix of which every element can be reached by two strides, counted in elements: a transposed one, say.
template <typename T>
struct MatrixView {
  const T* data;
  std::int64_t row_stride, column_stride;
};

/// store(row, column, sum over k of a[row, k] * b[k, column]) for every element of the product of an m x k and a k x n
/// matrix. Every sum is taken in the order of k. `store` is called from several threads.
template <typename T, typename Store>
void multiply(MatrixView<T> a, MatrixView<T> b, std::int64_t m, std::int64_t k, std::int64_t n, const Store& store) {
  using Sum = Accumulator<T>;
  // Rows of b next to each other in memory make the innermost loop contiguous.
  std::vector<T> packed;
  if (b.column_stride != 1 && n > 1) {
    packed.resize(static_cast<std::size_t>(k * n));
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        packed[static_cast<std::size_t>(i * n + j)] = b.data[i * b.row_stride + j * b.column_stride];
      }
    }
    b = {packed.data(), n, 1};
  }
  // Several rows of a share one pass over b.
  constexpr std::int64_t block = 4;
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, block * k * n));
  parallel_for((m + block - 1) / block, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Sum> sums(static_cast<std::size_t>(block * n));
    for (std::int64_t first = begin * block; first < std::min(m, end * block); first += block) {
      const std::int64_t rows = std::min(block, m - first);
      std::fill(sums.begin(), sums.end(), Sum{0});
      for (std::int64_t i = 0; i < k; ++i) {
        const T* line = b.data + i * b.row_stride;
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto factor = static_cast<Sum>(a.data[(first + row) * a.row_stride + i * a.column_stride]);
          Sum* sum = sums.data() + row * n;
          for (std::int64_t j = 0; j < n; ++j) sum[j] += factor * static_cast<Sum>(line[j]);
        }
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t j = 0; j < n; ++j) store(first + row, j, sums[static_cast<std::size_t>(row * n + j)]);
      }
    }
  });
}

}  // namespace ort_train::kernels
