#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <string_view>

namespace ort_train::runtime::cuda {

// Each throws an Error that says what was done, what the library answered and, where it is known, what to do.

void check(cudaError_t status, std::string_view what);
void check(cudnnStatus_t status, std::string_view what);
void check(cublasStatus_t status, std::string_view what);
void check(ncclResult_t status, std::string_view what);

}  // namespace ort_train::runtime::cuda
