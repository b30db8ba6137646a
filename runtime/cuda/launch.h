#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/cuda/error.h"
#include "runtime/cuda/virtual_launch.h"

#ifndef __CUDACC__
#error "kernels are compiled by nvcc: name the file .cu"
#endif

// How kernels of our own are written: a struct whose members are its arguments (arrays and numbers), with a call
// operator for one element or one row. The same source runs on the GPU and, for the tests, on the host.
namespace ort_train::runtime::cuda {

/// An array that a kernel reads.
template <typename T>
struct In {
  const T* elements;
  std::int64_t count;
  __host__ __device__ const T& operator[](std::int64_t i) const { return elements[i]; }
};

/// An array that a kernel writes; it may read it as well.
template <typename T>
struct Out {
  T* elements;
  std::int64_t count;
  __host__ __device__ T& operator[](std::int64_t i) const { return elements[i]; }
};

/// The arrays of a kernel, for the checks of the virtual GPUs.
class Accesses {
 public:
  template <typename T>
  Accesses& operator()(const In<T>& array) {
    if (array.elements != nullptr) list_.push_back({array.elements, bytes(array), false});
    return *this;
  }
  template <typename T>
  Accesses& operator()(const Out<T>& array) {
    if (array.elements != nullptr) list_.push_back({array.elements, bytes(array), true});
    return *this;
  }
  const std::vector<MemoryAccess>& list() const { return list_; }

 private:
  template <typename Array>
  static std::size_t bytes(const Array& array) {
    return static_cast<std::size_t>(array.count) * sizeof(*array.elements);
  }
  std::vector<MemoryAccess> list_;
};

inline constexpr int block_threads = 256;

/// The threads that work on one row: a block of them, or a single one, as on the host. `for_each` and `reduce` are
/// where they do different things; everything else in a row's operator is the same for all of them.
struct SingleThread {
  template <typename Function>
  __host__ __device__ void for_each(std::int64_t count, const Function& function) const {
    for (std::int64_t i = 0; i < count; ++i) function(i);
  }
  template <typename T, typename Function, typename Combine>
  __host__ __device__ T reduce(std::int64_t count, T neutral, const Function& function, const Combine& combine) const {
    T result = neutral;
    for (std::int64_t i = 0; i < count; ++i) result = combine(result, function(i));
    return result;
  }
  __host__ __device__ bool is_first() const { return true; }
};

struct ThreadBlock {
  template <typename Function>
  __device__ void for_each(std::int64_t count, const Function& function) const {
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) function(i);
    __syncthreads();
  }
  /// The order of the additions depends on the number of threads only, so equal runs give equal bits.
  template <typename T, typename Function, typename Combine>
  __device__ T reduce(std::int64_t count, T neutral, const Function& function, const Combine& combine) const {
    __shared__ alignas(16) unsigned char memory[block_threads * sizeof(T)];
    T* partial = reinterpret_cast<T*>(memory);
    T mine = neutral;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) mine = combine(mine, function(i));
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned stride = block_threads / 2; stride > 0; stride /= 2) {
      if (threadIdx.x < stride) partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + stride]);
      __syncthreads();
    }
    const T result = partial[0];
    __syncthreads();
    return result;
  }
  __device__ bool is_first() const { return threadIdx.x == 0; }
};

template <typename Kernel>
__global__ void element_kernel(Kernel kernel, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    kernel(i);
  }
}

template <typename Kernel>
__global__ void row_kernel(Kernel kernel, std::int64_t rows) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) kernel(row, ThreadBlock());
}

/// Rows as elements, each the work of one thread.
template <typename Kernel>
struct SingleThreadRows {
  Kernel kernel;
  void arrays(Accesses& accesses) const { kernel.arrays(accesses); }
  __host__ __device__ void operator()(std::int64_t row) const { kernel(row, SingleThread()); }
};

/// Enough blocks for every multiprocessor of the largest GPUs several times over; loops do the rest.
inline constexpr std::int64_t most_blocks = 4096;

inline cudaError_t launch_virtually(cudaStream_t stream, const char* name, const Accesses& accesses,
                                    const std::function<void()>& run) {
  return ort_train_virtual_launch(stream, name, accesses.list().data(), accesses.list().size(), &run);
}

/// Puts kernel(i) for all i < count on the stream. Kernels have `void arrays(Accesses&) const`, which names their
/// arrays.
template <typename Kernel>
void for_each(cudaStream_t stream, const char* name, std::int64_t count, const Kernel& kernel) {
  if (count <= 0) return;
  if (ort_train_virtual_launch != nullptr) {
    Accesses accesses;
    kernel.arrays(accesses);
    check(launch_virtually(stream, name, accesses,
                           [kernel, count] {
                             for (std::int64_t i = 0; i < count; ++i) kernel(i);
                           }),
          name);
    return;
  }
  const std::int64_t blocks = std::min((count + block_threads - 1) / block_threads, most_blocks);
  element_kernel<<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(kernel, count);
  check(cudaGetLastError(), name);
}

/// Puts kernel(row, block) for all rows on the stream, a block of threads for each.
template <typename Kernel>
void for_rows(cudaStream_t stream, const char* name, std::int64_t rows, const Kernel& kernel) {
  if (rows <= 0) return;
  if (ort_train_virtual_launch != nullptr) {
    Accesses accesses;
    kernel.arrays(accesses);
    check(launch_virtually(stream, name, accesses,
                           [kernel, rows] {
                             for (std::int64_t row = 0; row < rows; ++row) kernel(row, SingleThread());
                           }),
          name);
    return;
  }
  row_kernel<<<static_cast<unsigned>(std::min(rows, std::int64_t{65535})), block_threads, 0, stream>>>(kernel, rows);
  check(cudaGetLastError(), name);
}

/// The same, with one thread for each row where the rows are so short that a block would be idle.
template <typename Kernel>
void for_rows_of(cudaStream_t stream, const char* name, std::int64_t rows, std::int64_t length, const Kernel& kernel) {
  constexpr std::int64_t short_row = 64;
  if (length <= short_row) {
    for_each(stream, name, rows, SingleThreadRows<Kernel>{kernel});
  } else {
    for_rows(stream, name, rows, kernel);
  }
}

}  // namespace ort_train::runtime::cuda
