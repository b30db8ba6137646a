// Products of virtual GPUs.
#include <cublasLt.h>

#include <cmath>
#include <optional>

#include "tests/virtual_gpu/testing.h"

using namespace virtual_gpu;
using namespace virtual_gpu::testing;

namespace {

void require_blas(cublasStatus_t status) {
  REQUIRE_MESSAGE(status == CUBLAS_STATUS_SUCCESS, cublasLtGetStatusString(status));
}

class Layout {
 public:
  Layout(cudaDataType_t type, int rows, int columns, cublasLtOrder_t order, int batch = 1) {
    const std::int64_t leading = order == CUBLASLT_ORDER_COL ? rows : columns, stride = rows * columns;
    require_blas(cublasLtMatrixLayoutCreate(&layout_, type, rows, columns, leading));
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cublasLtMatrixLayout_t() const { return layout_; }

 private:
  template <typename T>
  void set(cublasLtMatrixLayoutAttribute_t name, const T& value) {
    require_blas(cublasLtMatrixLayoutSetAttribute(layout_, name, &value, sizeof value));
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

/// A product in float32.
class Multiplier {
 public:
  Multiplier() {
    require_blas(cublasLtCreate(&handle_));
    require_blas(cublasLtMatmulDescCreate(&description_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  }
  ~Multiplier() {
    cublasLtMatmulDescDestroy(description_);
    cublasLtDestroy(handle_);
  }
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;

  template <typename T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value) {
    require_blas(cublasLtMatmulDescSetAttribute(description_, name, &value, sizeof value));
  }

  cublasStatus_t run(const void* a, const Layout& a_layout, const void* b, const Layout& b_layout, void* d,
                     const Layout& d_layout, float alpha = 1, float beta = 0) {
    cublasLtMatmulPreference_t preference = nullptr;
    require_blas(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulHeuristicResult_t result = {};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle_, description_, a_layout, b_layout, d_layout,
                                                                 d_layout, preference, 1, &result, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    REQUIRE(found == 1);
    return cublasLtMatmul(handle_, description_, &alpha, a, a_layout, b, b_layout, &beta, d, d_layout, d, d_layout,
                          &result.algo, nullptr, 0, stream_);
  }

 private:
  Stream stream_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t description_ = nullptr;
};

using Floats = std::vector<float>;

// Column-major: A = [1 2; 3 4], B = [1 -1; 1 -2], A B = [3 -5; 7 -11].
const Floats a_values = {1, 3, 2, 4}, b_values = {1, 1, -1, -2};

Floats run_with_epilogue(Multiplier& multiplier, cublasLtEpilogue_t epilogue) {
  multiplier.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  const Layout layout(CUDA_R_32F, 2, 2, CUBLASLT_ORDER_COL);
  DeviceArray<float> a(a_values), b(b_values), d(4);
  require_blas(multiplier.run(a.get(), layout, b.get(), layout, d.get(), layout));
  require(cudaDeviceSynchronize());
  return d.values();
}

double gelu_by_difference(double x) {
  const auto gelu = [](double v) { return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))); };
  return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
}

}  // namespace

TEST_CASE("orders, transposes, batches, alpha and beta") {
  Multiplier multiplier;
  // Row-major, two of a batch: A is 2 x 3, B is 3 x 1, or 1 x 3 and transposed.
  DeviceArray<float> a(Floats{1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 0}), b(Floats{1, 2, 3, 4, 5, 6}), d(Floats{1, 1, 2, 2});
  const Layout a_layout(CUDA_R_32F, 2, 3, CUBLASLT_ORDER_ROW, 2), d_layout(CUDA_R_32F, 2, 1, CUBLASLT_ORDER_ROW, 2);
  std::optional<Layout> b_layout;
  SUBCASE("as it is") { b_layout.emplace(CUDA_R_32F, 3, 1, CUBLASLT_ORDER_ROW, 2); }
  SUBCASE("transposed") {
    b_layout.emplace(CUDA_R_32F, 1, 3, CUBLASLT_ORDER_ROW, 2);
    multiplier.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  }
  require_blas(multiplier.run(a.get(), a_layout, b.get(), *b_layout, d.get(), d_layout, 2, 10));
  require(cudaDeviceSynchronize());
  CHECK(d.values() == Floats{38, 74, 28, 30});
  CHECK(reported() == Kinds{});
}

TEST_CASE("bfloat16 is summed in float and rounded once") {
  Multiplier multiplier;
  const std::uint16_t one = 0x3f80, small = 0x3b80;  // 1 and 2^-8
  DeviceArray<std::uint16_t> a(std::vector<std::uint16_t>{one, small, small}), b(std::vector<std::uint16_t>(3, one)),
      d(1);
  require_blas(multiplier.run(a.get(), Layout(CUDA_R_16BF, 1, 3, CUBLASLT_ORDER_ROW), b.get(),
                              Layout(CUDA_R_16BF, 3, 1, CUBLASLT_ORDER_ROW), d.get(),
                              Layout(CUDA_R_16BF, 1, 1, CUBLASLT_ORDER_ROW)));
  require(cudaDeviceSynchronize());
  // 1 + 2^-7 is the next number after 1; two roundings would give 1.
  CHECK(d.values()[0] == 0x3f81);
}

TEST_CASE("bias and ReLU, and the bits for its gradient") {
  Multiplier multiplier;
  DeviceArray<float> bias(Floats{1, 20});
  DeviceArray<unsigned char> bits(32);
  multiplier.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_RELU_BIAS) == Floats{4, 27, 0, 9});
  multiplier.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, bits.get());
  multiplier.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{128});
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_RELU_AUX) == Floats{3, 7, 0, 0});
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_DRELU) == Floats{3, 7, 0, 0});
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_RELU_AUX_BIAS) == Floats{4, 27, 0, 9});
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_DRELU_BGRAD) == Floats{3, 7, 0, -11});
  CHECK(bias.values() == Floats{3, -4});
  CHECK(reported() == Kinds{});
}

TEST_CASE("GELU, and its gradient") {
  Multiplier multiplier;
  DeviceArray<float> arguments(16), bias(2);
  multiplier.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, arguments.get());
  multiplier.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{8});
  multiplier.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_GELU_AUX)[0] == doctest::Approx(2.99636));
  CHECK(arguments.values()[9] == -11);
  const Floats chosen = {0.5, -1, 0, 0, 0, 0, 0, 0, 2, -0.25, 0, 0, 0, 0, 0, 0};
  require(cudaMemcpy(arguments.get(), chosen.data(), arguments.bytes(), cudaMemcpyHostToDevice));
  const Floats gradient = run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_DGELU_BGRAD);
  CHECK(gradient[0] == doctest::Approx(3 * gelu_by_difference(0.5)));
  CHECK(gradient[1] == doctest::Approx(7 * gelu_by_difference(-1)));
  CHECK(gradient[2] == doctest::Approx(-5 * gelu_by_difference(2)));
  CHECK(gradient[3] == doctest::Approx(-11 * gelu_by_difference(-0.25)));
  CHECK(bias.values()[1] == doctest::Approx(gradient[1] + gradient[3]));
  CHECK(reported() == Kinds{});
}

TEST_CASE("gradients of a bias from a factor") {
  Multiplier multiplier;
  DeviceArray<float> bias(2);
  multiplier.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  CHECK(run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_BGRADA) == Floats{3, 7, -5, -11});
  CHECK(bias.values() == Floats{3, 7});
  run_with_epilogue(multiplier, CUBLASLT_EPILOGUE_BGRADB);
  CHECK(bias.values() == Floats{2, -3});
}

TEST_CASE("sizes that do not fit are refused, operands that are too small reported") {
  Multiplier multiplier;
  const Layout two(CUDA_R_32F, 2, 2, CUBLASLT_ORDER_COL), three(CUDA_R_32F, 3, 3, CUBLASLT_ORDER_COL);
  DeviceArray<float> a(a_values), b(b_values), d(9);
  CHECK(multiplier.run(a.get(), two, b.get(), three, d.get(), three) == CUBLAS_STATUS_INVALID_VALUE);
  require(cudaSetDevice(1));
  {
    Multiplier other;
    DeviceArray<float> small(a_values), result(9);
    require_blas(other.run(small.get(), three, small.get(), three, result.get(), three));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  }
  require(cudaSetDevice(0));
  CHECK(reported() == Kinds{"bounds"});
}
