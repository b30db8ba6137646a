#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>

#include "base/data_type.h"
#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// Y = alpha A B + beta Y for a batch of row-major matrices: A is [M, K], or [K, M] when transposed, B is [K, N], or
/// [N, K]. A stride of 0 repeats a matrix. Counts are in elements.
struct ProductShape {
  DataType dtype = DataType::float32;
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batch = 1, stride_a = 0, stride_b = 0, stride_y = 0;
  double alpha = 1, beta = 0;
};

/// A product that cuBLASLt has an algorithm for.
class BlasProduct {
 public:
  /// Null when it has none for this shape and type.
  static std::unique_ptr<BlasProduct> make(const Context& context, const ProductShape& shape);
  ~BlasProduct();
  BlasProduct(const BlasProduct&) = delete;
  BlasProduct& operator=(const BlasProduct&) = delete;

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Puts it on the compute stream.
  void run(const void* a, const void* b, void* y, void* workspace) const;

 private:
  BlasProduct(const Context& context, const ProductShape& shape) : context_(context), shape_(shape) {}
  void describe();
  bool choose_algorithm();

  const Context& context_;
  ProductShape shape_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, y_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
  std::size_t workspace_bytes_ = 0;
};

}  // namespace ort_train::runtime::cuda
