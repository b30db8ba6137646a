#pragma once

#include <cudnn.h>

namespace virtual_gpu {

/// Behind a cudnnHandle_t of the program under test.
struct CudnnHandle {
  int device = 0;
  cudaStream_t stream = nullptr;
};

/// Null, and a report, when it is no handle of ours.
CudnnHandle* cudnn_handle(cudnnHandle_t handle);

}  // namespace virtual_gpu
