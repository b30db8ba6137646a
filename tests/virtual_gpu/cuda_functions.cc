// Entry points of cudart that deal with compiled kernels. Their code is for a GPU and cannot run here; kernels of the
// project come by ort_train_virtual_launch, any other launch is a mistake that is told.
#include <algorithm>
#include <cstring>

#include "tests/virtual_gpu/core.h"
#include "tests/virtual_gpu/cuda_errors.h"
#include "tests/virtual_gpu/models.h"

using namespace virtual_gpu;

namespace {

constexpr int warp = 32;

cudaError_t refuse_launch(const char* entry_point) {
  report("api",
         std::string(entry_point) +
             ": a kernel compiled for a GPU cannot run on a virtual one; launch it through runtime/cuda/launch.h");
  return keep_error(cudaErrorNoKernelImageForDevice);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return refuse_launch("cudaLaunchKernel");
}

// What nvcc makes of <<<>>>.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is CUDA's
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return refuse_launch("<<<>>>");
}

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is CUDA's
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return refuse_launch("<<<>>>");
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > model().shared_bytes_optin) {
    return keep_error(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = warp;
  attributes->maxDynamicSharedSizeBytes = model().shared_bytes_optin;
  attributes->binaryVersion = attributes->ptxVersion = 10 * model().major + model().minor;
  return cudaSuccess;
}

// As for a kernel with few registers: threads and shared memory are what limits it.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t shared_bytes) {
  if (threads < 1 || threads > 1024) return keep_error(cudaErrorInvalidValue);
  const int rounded_threads = (threads + warp - 1) / warp * warp;
  *blocks = std::min(model().blocks_of_multiprocessor, model().threads_of_multiprocessor / rounded_threads);
  if (shared_bytes > 0) {
    *blocks = std::min(*blocks, static_cast<int>(static_cast<std::size_t>(model().shared_bytes_optin) / shared_bytes));
  }
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   std::size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

}  // extern "C"
