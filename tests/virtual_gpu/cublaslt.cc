// Entry points of cuBLASLt that need a device. Descriptors and layouts are the real library's.
#include <cublasLt.h>

#include "tests/virtual_gpu/core.h"
#include "tests/virtual_gpu/cublaslt_product.h"

using namespace virtual_gpu;

namespace {

constexpr std::uint64_t our_algorithm = 0x76697274;

struct Handle {
  int device = 0;
};

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (const int error = injected("cublasLtCreate")) return static_cast<cublasStatus_t>(error);
  *handle = reinterpret_cast<cublasLtHandle_t>(new Handle{current_device()});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int asked,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  *found = 0;
  if (const int error = injected("cublasLtMatmulAlgoGetHeuristic")) return static_cast<cublasStatus_t>(error);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (describe(description, a, b, c, d, status) == nullptr) return status;
  if (asked < 1) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].algo.data[0] = our_algorithm;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t layout_c, void* d, cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t workspace_bytes,
                              cudaStream_t stream) {
  if (const int error = injected("cublasLtMatmul")) return static_cast<cublasStatus_t>(error);
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (algorithm != nullptr && algorithm->data[0] != our_algorithm) {
    report("api", "cublasLtMatmul: the algorithm did not come from the heuristic");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (device_of(stream) != reinterpret_cast<Handle*>(handle)->device) {
    report("device", "cublasLtMatmul: the stream is not one of the handle's device");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto product = describe(description, layout_a, layout_b, layout_c, layout_d, status);
  if (product == nullptr) return status;
  const auto number = [&](const void* value) {
    return product->in_double ? *static_cast<const double*>(value) : *static_cast<const float*>(value);
  };
  const double factor = number(alpha), addend = number(beta);
  std::vector<Access> accesses = product->epilogue_accesses();
  accesses.push_back(read_of(a, product->a.bytes()));
  accesses.push_back(read_of(b, product->b.bytes()));
  if (addend != 0) accesses.push_back(read_of(c, product->c.bytes()));
  if (workspace_bytes > 0) accesses.push_back(write_of(workspace, workspace_bytes));
  accesses.push_back(write_of(d, product->d.bytes()));
  const cudaError_t error = enqueue(stream, "cublasLtMatmul", std::move(accesses),
                                    [=](Running&) { multiply(*product, factor, addend, a, b, c, d); });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
