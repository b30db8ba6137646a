// cuBLASLt: descriptors and layouts are the real library's; handles, heuristics and products are computed here.
#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "base/data_type.h"
#include "base/dispatch.h"
#include "tests/virtual_gpu/core.h"

using namespace virtual_gpu;
using ort_train::DataType;

namespace {

constexpr std::uint64_t our_algorithm = 0x76697274;

struct Handle {
  int device = 0;
};

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

/// A batch of matrices in memory.
struct Matrices {
  explicit Matrices(cublasLtMatrixLayout_t layout)
      : type(to_data_type(static_cast<int>(attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE)))),
        is_column_major(attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER) == CUBLASLT_ORDER_COL),
        rows(static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS))),
        columns(static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS))),
        leading(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD)),
        batch(attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)),
        stride(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)) {}

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

struct Epilogue {
  bool bias = false, relu = false, gelu = false;
  bool bias_gradient_a = false, bias_gradient_b = false;
};

std::optional<Epilogue> to_epilogue(std::uint32_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT: return Epilogue{};
    case CUBLASLT_EPILOGUE_RELU: return Epilogue{.relu = true};
    case CUBLASLT_EPILOGUE_BIAS: return Epilogue{.bias = true};
    case CUBLASLT_EPILOGUE_RELU_BIAS: return Epilogue{.bias = true, .relu = true};
    case CUBLASLT_EPILOGUE_GELU: return Epilogue{.gelu = true};
    case CUBLASLT_EPILOGUE_GELU_BIAS: return Epilogue{.bias = true, .gelu = true};
    case CUBLASLT_EPILOGUE_BGRADA: return Epilogue{.bias_gradient_a = true};
    case CUBLASLT_EPILOGUE_BGRADB: return Epilogue{.bias_gradient_b = true};
    default: report("api", "cuBLASLt epilogue " + std::to_string(epilogue) + " is not known"); return std::nullopt;
  }
}

/// D = epilogue(alpha op(A) op(B) + beta C).
struct Product {
  Matrices a, b, c, d;
  bool transpose_a, transpose_b;
  Epilogue epilogue;
  void* bias;
  DataType bias_type;

  std::int64_t inner() const { return transpose_a ? a.rows : a.columns; }
};

std::shared_ptr<Product> describe(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                  cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasStatus_t& status) {
  const auto epilogue = to_epilogue(attribute<std::uint32_t>(description, CUBLASLT_MATMUL_DESC_EPILOGUE));
  status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (!epilogue) return nullptr;
  auto product = std::make_shared<Product>(
      Product{Matrices(a), Matrices(b), Matrices(c), Matrices(d),
              attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N,
              attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N, *epilogue,
              attribute<void*>(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER),
              to_data_type(attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1))});
  if (product->bias_type == DataType::undefined) product->bias_type = product->d.type;
  const auto pointers = attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_POINTER_MODE);
  if (pointers != CUBLASLT_POINTER_MODE_HOST) return nullptr;
  for (const Matrices* matrices : {&product->a, &product->b, &product->c, &product->d}) {
    if (matrices->type == DataType::undefined) return nullptr;
  }
  const std::int64_t rows = product->transpose_a ? product->a.columns : product->a.rows;
  const std::int64_t columns = product->transpose_b ? product->b.rows : product->b.columns;
  const std::int64_t inner_b = product->transpose_b ? product->b.columns : product->b.rows;
  status = CUBLAS_STATUS_INVALID_VALUE;
  if (rows != product->d.rows || columns != product->d.columns || inner_b != product->inner()) return nullptr;
  if (product->c.rows != rows || product->c.columns != columns) return nullptr;
  if (product->a.batch != product->d.batch || product->b.batch != product->d.batch) return nullptr;
  status = CUBLAS_STATUS_SUCCESS;
  return product;
}

/// Numbers of one kind, whatever the type in memory. T is the type of the arithmetic.
template <typename T>
T load(DataType type, const void* memory, std::int64_t index) {
  T value{};
  ort_train::dispatch_any_floating(type, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const Element& element = static_cast<const Element*>(memory)[index];
    if constexpr (std::is_floating_point_v<Element>) {
      value = static_cast<T>(element);
    } else {
      value = static_cast<T>(static_cast<float>(element));
    }
  });
  return value;
}

template <typename T>
void store(DataType type, void* memory, std::int64_t index, T value) {
  ort_train::dispatch_any_floating(type, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    Element& element = static_cast<Element*>(memory)[index];
    if constexpr (std::is_floating_point_v<Element>) {
      element = static_cast<Element>(value);
    } else {
      element = Element(static_cast<float>(value));
    }
  });
}

template <typename T>
T gelu(T x) {
  const T cubic = T(0.044715) * x * x * x;
  return T(0.5) * x * (1 + std::tanh(std::sqrt(T(2) / T(3.14159265358979323846)) * (x + cubic)));
}

template <typename T>
class Multiplication {
 public:
  Multiplication(const Product& product, T alpha, T beta, const void* a, const void* b, const void* c, void* d)
      : product_(product), alpha_(alpha), beta_(beta), a_(a), b_(b), c_(c), d_(d) {}

  void run() {
    for (std::int64_t item = 0; item < product_.d.batch; ++item) {
      gather(item);
      multiply();
      finish(item);
    }
    if (product_.epilogue.bias_gradient_a) sum_rows();
    if (product_.epilogue.bias_gradient_b) sum_columns();
  }

 private:
  std::int64_t rows() const { return product_.d.rows; }
  std::int64_t columns() const { return product_.d.columns; }
  std::int64_t inner() const { return product_.inner(); }

  // op(A) by columns, op(B) by columns.
  void gather(std::int64_t item) {
    left_.resize(static_cast<std::size_t>(rows() * inner()));
    right_.resize(static_cast<std::size_t>(inner() * columns()));
    const Product& p = product_;
    for (std::int64_t k = 0; k < inner(); ++k) {
      for (std::int64_t i = 0; i < rows(); ++i) {
        left_[static_cast<std::size_t>(k * rows() + i)] =
            load<T>(p.a.type, a_, p.transpose_a ? p.a.at(item, k, i) : p.a.at(item, i, k));
      }
      for (std::int64_t j = 0; j < columns(); ++j) {
        right_[static_cast<std::size_t>(j * inner() + k)] =
            load<T>(p.b.type, b_, p.transpose_b ? p.b.at(item, j, k) : p.b.at(item, k, j));
      }
    }
  }

  void multiply() {
    result_.assign(static_cast<std::size_t>(rows() * columns()), T(0));
    for (std::int64_t j = 0; j < columns(); ++j) {
      T* column = &result_[static_cast<std::size_t>(j * rows())];
      for (std::int64_t k = 0; k < inner(); ++k) {
        const T factor = right_[static_cast<std::size_t>(j * inner() + k)];
        const T* other = &left_[static_cast<std::size_t>(k * rows())];
        for (std::int64_t i = 0; i < rows(); ++i) column[i] += factor * other[i];
      }
    }
  }

  void finish(std::int64_t item) {
    for (std::int64_t j = 0; j < columns(); ++j) {
      for (std::int64_t i = 0; i < rows(); ++i) {
        T value = alpha_ * result_[static_cast<std::size_t>(j * rows() + i)];
        if (beta_ != 0) value += beta_ * load<T>(product_.c.type, c_, product_.c.at(item, i, j));
        if (product_.epilogue.bias) value += load<T>(product_.bias_type, product_.bias, i);
        if (product_.epilogue.relu) value = std::max(value, T(0));
        if (product_.epilogue.gelu) value = gelu(value);
        store(product_.d.type, d_, product_.d.at(item, i, j), value);
      }
    }
  }

  void sum_rows() {
    for (std::int64_t i = 0; i < rows(); ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < inner(); ++k) sum += left_[static_cast<std::size_t>(k * rows() + i)];
      store(product_.bias_type, product_.bias, i, sum);
    }
  }

  void sum_columns() {
    for (std::int64_t j = 0; j < columns(); ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < inner(); ++k) sum += right_[static_cast<std::size_t>(j * inner() + k)];
      store(product_.bias_type, product_.bias, j, sum);
    }
  }

  const Product& product_;
  T alpha_, beta_;
  const void *a_, *b_, *c_;
  void* d_;
  std::vector<T> left_, right_, result_;
};

Access bias_access(const Product& product) {
  const bool by_columns = product.epilogue.bias_gradient_b;
  const bool writes = by_columns || product.epilogue.bias_gradient_a;
  const auto count = static_cast<std::size_t>(by_columns ? product.d.columns : product.d.rows);
  return {product.bias, count * ort_train::size_of(product.bias_type), writes};
}

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
  const auto scale = attribute<std::int32_t>(description, CUBLASLT_MATMUL_DESC_SCALE_TYPE);
  const bool in_double = scale == CUDA_R_64F;
  const double factor = in_double ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double addend = in_double ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  std::vector<Access> accesses = {read_of(a, product->a.bytes()), read_of(b, product->b.bytes())};
  if (addend != 0) accesses.push_back(read_of(c, product->c.bytes()));
  if (product->bias != nullptr) accesses.push_back(bias_access(*product));
  if (workspace_bytes > 0) accesses.push_back(write_of(workspace, workspace_bytes));
  accesses.push_back(write_of(d, product->d.bytes()));
  const cudaError_t error = enqueue(stream, "cublasLtMatmul", std::move(accesses), [=](Running&) {
    if (in_double) {
      Multiplication<double>(*product, factor, addend, a, b, c, d).run();
    } else {
      Multiplication<float>(*product, static_cast<float>(factor), static_cast<float>(addend), a, b, c, d).run();
    }
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
