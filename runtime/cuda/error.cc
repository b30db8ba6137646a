#include "runtime/cuda/error.h"

#include "base/error.h"

namespace ort_train::runtime::cuda {

namespace {

std::string_view advice(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation: return "; a smaller batch needs less memory";
    case cudaErrorInsufficientDriver: return "; the NVIDIA driver is older than this CUDA: install a newer driver";
    case cudaErrorNoDevice: return "; no NVIDIA GPU is visible to this process";
    case cudaErrorSystemDriverMismatch:
      return "; driver and CUDA libraries do not fit each other: reboot, or reinstall";
    case cudaErrorDevicesUnavailable: return "; another process has the GPU for itself, or it has failed";
    default: return "";
  }
}

}  // namespace

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  // The error is told once; it must not show up again at the next call that fails.
  cudaGetLastError();
  fail("CUDA could not ", what, ": ", cudaGetErrorString(status), advice(status));
}

void check(cudnnStatus_t status, std::string_view what) {
  if (status != CUDNN_STATUS_SUCCESS) fail("cuDNN could not ", what, ": ", cudnnGetErrorString(status));
}

void check(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("cuBLASLt could not ", what, ": ", cublasLtGetStatusString(status));
}

void check(ncclResult_t status, std::string_view what) {
  if (status != ncclSuccess) fail("NCCL could not ", what, ": ", ncclGetErrorString(status));
}

}  // namespace ort_train::runtime::cuda
