#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/data_type.h"
#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

using ort_train::DataType;

/// A batch of matrices in memory.
struct Matrices {
  explicit Matrices(cublasLtMatrixLayout_t layout);

  std::int64_t at(std::int64_t item, std::int64_t row, std::int64_t column) const {
    return item * stride + (is_column_major ? column * leading + row : row * leading + column);
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(at(batch - 1, rows - 1, columns - 1) + 1) * ort_train::size_of(type);
  }

  DataType type;
  bool is_column_major;
  std::int64_t rows, columns, leading;
  std::int64_t batch, stride;
};

/// What is done to the product before it is written. The gradient of ReLU needs one bit an element, that of GELU its
/// argument; both are kept in an auxiliary matrix (column-major), which the forward product may write.
struct Epilogue {
  bool bias = false, relu = false, gelu = false, writes_auxiliary = false;
  bool relu_gradient = false, gelu_gradient = false;
  /// Sums of D over its columns; of A and of B over the inner dimension.
  bool bias_gradient_d = false, bias_gradient_a = false, bias_gradient_b = false;

  bool uses_auxiliary() const { return writes_auxiliary || relu_gradient || gelu_gradient; }
  bool auxiliary_is_bits() const { return relu || relu_gradient; }
  bool writes_bias() const { return bias_gradient_d || bias_gradient_a || bias_gradient_b; }
  bool uses_bias() const { return bias || writes_bias(); }
};

/// D = epilogue(alpha op(A) op(B) + beta C).
struct Product {
  Matrices a, b, c, d;
  bool transpose_a, transpose_b;
  Epilogue epilogue;
  void* bias;
  DataType bias_type;
  void* auxiliary;
  std::int64_t auxiliary_leading, auxiliary_stride;
  bool in_double;

  std::int64_t inner() const { return transpose_a ? a.rows : a.columns; }
  std::int64_t auxiliary_at(std::int64_t item, std::int64_t row, std::int64_t column) const {
    return item * auxiliary_stride + column * auxiliary_leading + row;
  }
  /// Of the memory behind the descriptor: bias and auxiliary matrix.
  std::vector<Access> epilogue_accesses() const;
};

/// Null, and why, for a product that does not exist or is not known.
std::shared_ptr<const Product> describe(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
                                        cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                        cublasStatus_t& status);

/// Computes it; sums go along the inner dimension, in float, or in double when the scale type is double.
void multiply(const Product& product, double alpha, double beta, const void* a, const void* b, const void* c, void* d);

}  // namespace virtual_gpu
