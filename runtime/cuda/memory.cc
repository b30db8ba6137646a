#include "runtime/cuda/memory.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "runtime/cuda/error.h"

namespace ort_train::runtime::cuda {

namespace {

std::string mebibytes(std::size_t bytes) {
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << static_cast<double>(bytes) / (1 << 20) << " MiB";
  return text.str();
}

}  // namespace

std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, std::string_view purpose) {
  void* memory = nullptr;
  const std::size_t asked = std::max<std::size_t>(bytes, 1);
  const cudaError_t status = cudaMalloc(&memory, asked);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "tell how much memory is free");
    fail("the GPU has no room for ", purpose, ": ", mebibytes(asked), " are needed, ", mebibytes(available), " of ",
         mebibytes(total), " are free; a smaller batch needs less, and so does --accumulate with the same batch");
  }
  check(status, "allocate memory");
  std::shared_ptr<std::byte> owned(static_cast<std::byte*>(memory), [](std::byte* p) { cudaFree(p); });
  check(cudaMemset(memory, 0, asked), "clear memory");
  // Streams of ours do not wait for the default stream.
  check(cudaStreamSynchronize(nullptr), "clear memory");
  return owned;
}

std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault), "allocate pinned host memory");
  return {static_cast<std::byte*>(memory), [](std::byte* p) { cudaFreeHost(p); }};
}

void copy(std::byte* target, const std::byte* source, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0 || target == source) return;
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream), "copy memory");
}

void clear(std::byte* memory, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0) check(cudaMemsetAsync(memory, 0, bytes, stream), "clear memory");
}

}  // namespace ort_train::runtime::cuda
