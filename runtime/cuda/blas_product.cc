#include "runtime/cuda/blas_product.h"

#include <optional>

namespace ort_train::runtime::cuda {

namespace {

constexpr std::size_t workspace_limit_bytes = std::size_t{32} << 20;

std::optional<cudaDataType_t> blas_type(DataType dtype) {
  switch (dtype) {
    case DataType::float32: return CUDA_R_32F;
    case DataType::float64: return CUDA_R_64F;
    case DataType::float16: return CUDA_R_16F;
    case DataType::bfloat16: return CUDA_R_16BF;
    default: return std::nullopt;
  }
}

void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, std::int32_t value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), "describe a product");
}

/// cuBLASLt is told of row-major matrices as they are.
cublasLtMatrixLayout_t make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch,
                                   std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                   columns),
        "describe a matrix");
  const std::int32_t order = CUBLASLT_ORDER_ROW, count = static_cast<std::int32_t>(batch);
  check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order),
        "describe a matrix");
  check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "describe a matrix");
  check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "describe a matrix");
  return layout;
}

}  // namespace

std::unique_ptr<BlasProduct> BlasProduct::make(const Context& context, const ProductShape& shape) {
  if (!blas_type(shape.dtype) || shape.m == 0 || shape.n == 0 || shape.k == 0 || shape.batch == 0) return nullptr;
  std::unique_ptr<BlasProduct> product(new BlasProduct(context, shape));
  product->describe();
  if (!product->choose_algorithm()) return nullptr;
  return product;
}

BlasProduct::~BlasProduct() {
  for (const cublasLtMatrixLayout_t layout : {a_, b_, y_}) {
    if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
  }
  if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
}

void BlasProduct::describe() {
  const cudaDataType_t type = *blas_type(shape_.dtype);
  const bool in_double = shape_.dtype == DataType::float64;
  const cublasComputeType_t compute = in_double ? CUBLAS_COMPUTE_64F
                                      : shape_.dtype == DataType::float32 && context_.allow_tf32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
  check(cublasLtMatmulDescCreate(&operation_, compute, in_double ? CUDA_R_64F : CUDA_R_32F), "describe a product");
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, shape_.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, shape_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  a_ = make_layout(type, shape_.transpose_a ? shape_.k : shape_.m, shape_.transpose_a ? shape_.m : shape_.k,
                   shape_.batch, shape_.stride_a);
  b_ = make_layout(type, shape_.transpose_b ? shape_.n : shape_.k, shape_.transpose_b ? shape_.k : shape_.n,
                   shape_.batch, shape_.stride_b);
  y_ = make_layout(type, shape_.m, shape_.n, shape_.batch, shape_.stride_y);
}

bool BlasProduct::choose_algorithm() {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "choose an algorithm");
  const std::uint64_t limit = workspace_limit_bytes;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(context_.blas, operation_, a_, b_, y_, y_, preference, 1, &result, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS || found == 0 || result.state != CUBLAS_STATUS_SUCCESS) return false;
  algorithm_ = result.algo;
  workspace_bytes_ = result.workspaceSize;
  return true;
}

void BlasProduct::run(const void* a, const void* b, void* y, void* workspace) const {
  const auto alpha = static_cast<float>(shape_.alpha), beta = static_cast<float>(shape_.beta);
  const bool in_double = shape_.dtype == DataType::float64;
  const void* scale = in_double ? static_cast<const void*>(&shape_.alpha) : &alpha;
  const void* keep = in_double ? static_cast<const void*>(&shape_.beta) : &beta;
  check(cublasLtMatmul(context_.blas, operation_, scale, a, a_, b, b_, keep, y, y_, y, y_, &algorithm_, workspace,
                       workspace_bytes_, context_.compute),
        "multiply matrices");
}

}  // namespace ort_train::runtime::cuda
