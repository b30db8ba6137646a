// MatMul and Gemm by cuBLASLt, row-major.
#include <algorithm>
#include <optional>

#include "base/dispatch.h"
#include "runtime/cuda/blas_product.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

namespace {

class ProductKernel : public Kernel {
 public:
  ProductKernel(const Request& request, std::unique_ptr<BlasProduct> product) : product_(std::move(product)) {
    name = "cublaslt";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
    scratchpad_bytes = product_->workspace_bytes();
  }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override {
    product_->run(pointers_.inputs[0], pointers_.inputs[1], pointers_.outputs[0], pointers_.scratchpad);
  }

 protected:
  Pointers pointers_;

 private:
  std::unique_ptr<BlasProduct> product_;
};

/// How an operand of a stack of products moves from one matrix to the next. Nothing when it cannot be told by one
/// stride.
std::optional<std::int64_t> batch_stride(const Dims& batch, const Dims& whole_batch, std::int64_t matrix) {
  const std::int64_t count = element_count(batch);
  if (count == 1) return 0;
  return count == element_count(whole_batch) ? std::optional(matrix) : std::nullopt;
}

Dims batch_of(const Dims& dims) { return {dims.begin(), dims.end() - 2}; }

std::unique_ptr<Kernel> make_matmul(const Request& request) {
  Dims a = request.plain_input(0).dims(), b = request.plain_input(1).dims();
  const Dims y = request.plain_output(0).dims();
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  ProductShape shape;
  shape.dtype = request.plain_input(0).dtype();
  shape.m = a[a.size() - 2];
  shape.k = a.back();
  shape.n = b.back();
  const Dims batch_a = batch_of(a), batch_b = batch_of(b);
  if (element_count(batch_b) == 1) {
    // All rows of A at once.
    shape.m *= element_count(batch_a);
  } else {
    const std::int64_t count = element_count(y) / (shape.m * shape.n);
    const Dims batch{count};
    const auto stride_a = batch_stride(batch_a, batch, shape.m * shape.k);
    const auto stride_b = batch_stride(batch_b, batch, shape.k * shape.n);
    if (!stride_a || !stride_b) return nullptr;
    shape.batch = count;
    shape.stride_a = *stride_a;
    shape.stride_b = *stride_b;
    shape.stride_y = shape.m * shape.n;
  }
  auto product = BlasProduct::make(request.context, shape);
  return product == nullptr ? nullptr : std::make_unique<ProductKernel>(request, std::move(product));
}

/// C of a Gemm, broadcast over Y, before the product is added to it.
template <typename Word>
struct CopyBroadcast {
  In<Word> source;
  Out<Word> target;
  StridedPositions<1> positions;

  void arrays(Accesses& accesses) const { accesses(source)(target); }
  __host__ __device__ void operator()(std::int64_t i) const { target[i] = source[positions(i).of[0]]; }
};

class GemmKernel : public ProductKernel {
 public:
  GemmKernel(const Request& request, std::unique_ptr<BlasProduct> product, const StridedPositions<1>& bias)
      : ProductKernel(request, std::move(product)), context_(request.context), bias_(bias) {}

  void run() override {
    switch (size_of(outputs[0].dtype())) {
      case 2: copy_bias<std::uint16_t>(); break;
      case 4: copy_bias<std::uint32_t>(); break;
      default: copy_bias<std::uint64_t>(); break;
    }
    ProductKernel::run();
  }

 private:
  template <typename Word>
  void copy_bias() const {
    const std::int64_t count = outputs[0].size();
    for_each(
        context_.compute, "broadcast bias", count,
        CopyBroadcast<Word>{{pointers_.input<Word>(2), inputs[2].size()}, {pointers_.output<Word>(0), count}, bias_});
  }

  const Context& context_;
  StridedPositions<1> bias_;
};

/// [N], [M, 1], [1, N], [M, N], [1] or a scalar.
Dims bias_strides(Dims dims) {
  dims.insert(dims.begin(), 2 - dims.size(), 1);
  return {dims[0] == 1 ? 0 : dims[1], dims[1] == 1 ? 0 : 1};
}

std::unique_ptr<Kernel> make_gemm(const Request& request) {
  const graph::Node& node = request.node;
  const Dims a = request.plain_input(0).dims(), y = request.plain_output(0).dims();
  ProductShape shape;
  shape.dtype = request.plain_input(0).dtype();
  shape.transpose_a = node.integer("transA", 0) != 0;
  shape.transpose_b = node.integer("transB", 0) != 0;
  shape.m = y[0];
  shape.n = y[1];
  shape.k = a[shape.transpose_a ? 0 : 1];
  shape.alpha = static_cast<double>(node.real("alpha", 1.0F));
  shape.beta = request.has_input(2) ? static_cast<double>(node.real("beta", 1.0F)) : 0;
  auto product = BlasProduct::make(request.context, shape);
  if (product == nullptr) return nullptr;
  if (!request.has_input(2)) return std::make_unique<ProductKernel>(request, std::move(product));
  const Dims strides[1] = {bias_strides(request.plain_input(2).dims())};
  return std::make_unique<GemmKernel>(request, std::move(product), strided_positions<1>(y, strides));
}

const FactoryRegistration matmul("MatMul", make_matmul);
const FactoryRegistration gemm("Gemm", make_gemm);

}  // namespace

}  // namespace ort_train::runtime::cuda
