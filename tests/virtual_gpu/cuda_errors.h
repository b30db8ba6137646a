#pragma once

#include <cuda_runtime_api.h>

namespace virtual_gpu {

/// Remembers an error for cudaGetLastError, and returns it.
cudaError_t keep_error(int error);

}  // namespace virtual_gpu
