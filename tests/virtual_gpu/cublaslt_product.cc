#include "tests/virtual_gpu/cublaslt_product.h"

#include <algorithm>
#include <iterator>

namespace virtual_gpu {

namespace {

DataType to_data_type(int type) {
  switch (type) {
    case CUDA_R_32F: return DataType::float32;
    case CUDA_R_64F: return DataType::float64;
    case CUDA_R_16F: return DataType::float16;
    case CUDA_R_16BF: return DataType::bfloat16;
    default: return DataType::undefined;
  }
}

template <typename T>
T attribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name) {
  T value{};
  std::size_t written = 0;
  cublasLtMatrixLayoutGetAttribute(layout, name, &value, sizeof value, &written);
  return value;
}

template <typename T>
T attribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t name, T otherwise = {}) {
  T value{};
  std::size_t written = 0;
  const auto status = cublasLtMatmulDescGetAttribute(description, name, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? value : otherwise;
}

std::optional<Epilogue> to_epilogue(std::uint32_t value) {
  static constexpr std::uint32_t known[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  if (std::find(std::begin(known), std::end(known), value) == std::end(known)) {
    report("api", "cuBLASLt epilogue " + std::to_string(value) + " is not known");
    return std::nullopt;
  }
  // The values are made of bits; those of the gradients have a bit of their own beside the one for the auxiliary
  // matrix.
  constexpr std::uint32_t auxiliary_bit = CUBLASLT_EPILOGUE_RELU_AUX & ~CUBLASLT_EPILOGUE_RELU;
  const auto has = [value](std::uint32_t bit) { return (value & bit) != 0; };
  Epilogue epilogue;
  epilogue.bias = has(CUBLASLT_EPILOGUE_BIAS);
  epilogue.relu = has(CUBLASLT_EPILOGUE_RELU);
  epilogue.gelu = has(CUBLASLT_EPILOGUE_GELU);
  epilogue.relu_gradient = has(CUBLASLT_EPILOGUE_DRELU & ~auxiliary_bit);
  epilogue.gelu_gradient = has(CUBLASLT_EPILOGUE_DGELU & ~auxiliary_bit);
  epilogue.writes_auxiliary = has(auxiliary_bit) && (epilogue.relu || epilogue.gelu);
  epilogue.bias_gradient_d = has(CUBLASLT_EPILOGUE_DRELU_BGRAD & ~CUBLASLT_EPILOGUE_DRELU);
  epilogue.bias_gradient_a = has(CUBLASLT_EPILOGUE_BGRADA);
  epilogue.bias_gradient_b = has(CUBLASLT_EPILOGUE_BGRADB);
  return epilogue;
}

bool sizes_fit(const Product& product) {
  const std::int64_t rows = product.transpose_a ? product.a.columns : product.a.rows;
  const std::int64_t columns = product.transpose_b ? product.b.rows : product.b.columns;
  const std::int64_t inner_b = product.transpose_b ? product.b.columns : product.b.rows;
  return rows == product.d.rows && columns == product.d.columns && inner_b == product.inner() &&
         product.c.rows == rows && product.c.columns == columns && product.a.batch == product.d.batch &&
         product.b.batch == product.d.batch && product.c.batch == product.d.batch;
}

// As cublasLt.h asks for: whole 16-byte units a column.
bool auxiliary_fits(const Product& product) {
  if (!product.epilogue.uses_auxiliary()) return true;
  const std::int64_t unit = product.epilogue.auxiliary_is_bits() ? 128 : 8;
  return product.auxiliary != nullptr && product.auxiliary_leading >= product.d.rows &&
         product.auxiliary_leading % unit == 0;
}

bool is_known(const Product& product) {
  for (const Matrices* matrices : {&product.a, &product.b, &product.c, &product.d}) {
    if (matrices->type == DataType::undefined) return false;
  }
  // Whether a batch has one gradient of the bias or many is not documented.
  return product.a.type == product.b.type && (product.d.batch == 1 || !product.epilogue.writes_bias());
}

}  // namespace

Matrices::Matrices(cublasLtMatrixLayout_t layout)
    : type(to_data_type(static_cast<int>(attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE)))),
      is_column_major(attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER) == CUBLASLT_ORDER_COL),
      rows(static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS))),
      columns(static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS))),
      leading(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD)),
      batch(attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)),
      stride(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)) {}

std::vector<Access> Product::epilogue_accesses() const {
  std::vector<Access> accesses;
  if (epilogue.uses_bias()) {
    const auto count = static_cast<std::size_t>(epilogue.bias_gradient_b ? d.columns : d.rows);
    accesses.push_back({bias, count * ort_train::size_of(bias_type), epilogue.writes_bias()});
  }
  if (epilogue.uses_auxiliary()) {
    const auto count = static_cast<std::size_t>(auxiliary_at(d.batch - 1, d.rows - 1, d.columns - 1) + 1);
    const std::size_t bytes = epilogue.auxiliary_is_bits() ? (count + 7) / 8 : count * ort_train::size_of(d.type);
    accesses.push_back({auxiliary, bytes, epilogue.writes_auxiliary});
  }
  return accesses;
}

std::shared_ptr<const Product> describe(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
                                        cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                        cublasStatus_t& status) {
  status = CUBLAS_STATUS_NOT_SUPPORTED;
  const auto epilogue = to_epilogue(attribute<std::uint32_t>(description, CUBLASLT_MATMUL_DESC_EPILOGUE));
  const auto pointers = attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_POINTER_MODE);
  if (!epilogue || pointers != CUBLASLT_POINTER_MODE_HOST) return nullptr;
  const auto product = std::make_shared<Product>(
      Product{Matrices(a), Matrices(b), Matrices(c), Matrices(d),
              attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N,
              attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N, *epilogue,
              attribute<void*>(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER),
              to_data_type(attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1)),
              attribute<void*>(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER),
              attribute<std::int64_t>(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD),
              attribute<std::int64_t>(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE),
              attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_SCALE_TYPE) == CUDA_R_64F});
  if (product->bias_type == DataType::undefined) product->bias_type = product->d.type;
  if (!is_known(*product)) return nullptr;
  status = CUBLAS_STATUS_INVALID_VALUE;
  if (!sizes_fit(*product) || !auxiliary_fits(*product)) return nullptr;
  status = CUBLAS_STATUS_SUCCESS;
  return product;
}

}  // namespace virtual_gpu
