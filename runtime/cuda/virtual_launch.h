#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace ort_train::runtime::cuda {

/// Memory that a kernel of ours touches.
struct MemoryAccess {
  const void* memory = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
};

}  // namespace ort_train::runtime::cuda

/// Nobody defines it in production. The virtual GPUs of the tests do, and run the host version of a kernel when its
/// turn on the stream comes; what it touches is named, so that they can tell whether the streams order it rightly.
extern "C" __attribute__((weak)) cudaError_t ort_train_virtual_launch(
    cudaStream_t stream, const char* kernel, const ort_train::runtime::cuda::MemoryAccess* accesses, std::size_t count,
    const std::function<void()>* run);
