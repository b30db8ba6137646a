// MatMul and Gemm by oneDNN, float32, row-major.
#include <algorithm>
#include <optional>

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/onednn_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

using Desc = dnnl::memory::desc;

Desc strided(const Dims& dims, const Dims& strides) { return {dims, dnnl::memory::data_type::f32, strides}; }

// A product that is ready to be made: three operands of equal rank, and what is added.
struct Product {
  Desc a, b, y;
  std::optional<Desc> bias;   // added first, [1, ..., N]
  std::optional<Desc> added;  // added after scaling, broadcast
  float scale = 1;
};

std::unique_ptr<Kernel> make_product(const Request& request, const Product& product) {
  dnnl::primitive_attr attributes = scratchpad_by_user();
  dnnl::post_ops after;
  if (product.scale != 1) after.append_eltwise(dnnl::algorithm::eltwise_linear, product.scale, 0);
  if (product.added) after.append_binary(dnnl::algorithm::binary_add, *product.added);
  attributes.set_post_ops(after);
  try {
    const dnnl::matmul::primitive_desc primitive(request.context.engine, product.a, product.b,
                                                 product.bias.value_or(Desc()), product.y, attributes);
    if (is_slow_implementation(primitive)) return nullptr;
    auto kernel = std::make_unique<OnednnKernel>(request.context, dnnl::matmul(primitive), primitive.impl_info_str());
    kernel->inputs = request.plain_inputs();
    kernel->outputs = request.plain_outputs();
    kernel->reads(DNNL_ARG_SRC, product.a, 0);
    kernel->reads(DNNL_ARG_WEIGHTS, product.b, 1);
    if (product.bias) kernel->reads(DNNL_ARG_BIAS, *product.bias, 2);
    if (product.added) {
      const int place = product.scale != 1 ? 1 : 0;
      kernel->reads(DNNL_ARG_ATTR_MULTIPLE_POST_OP(place) | DNNL_ARG_SRC_1, *product.added, 2);
    }
    kernel->writes(DNNL_ARG_DST, product.y, 0);
    kernel->uses_scratchpad(primitive.scratchpad_desc());
    return kernel;
  } catch (const dnnl::error&) {
    return nullptr;  // no implementation for these operands
  }
}

bool is_float32_and_not_empty(const Request& request) {
  if (!request.all_of_type(DataType::float32)) return false;
  for (const Format& format : request.plain_inputs()) {
    if (format.defined() && format.size() == 0) return false;
  }
  return true;
}

Dims with_rank(Dims dims, std::size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

// [batch..., M, K] times one [K, N] is a single product with all rows.
bool is_stack_times_matrix(const Dims& a, const Dims& b) {
  const std::int64_t batch = element_count(std::span(b).first(b.size() - 2));
  return a.size() > 2 && batch == 1;
}

std::unique_ptr<Kernel> make_matmul(const Request& request) {
  if (!is_float32_and_not_empty(request)) return nullptr;
  const Dims a = request.plain_input(0).dims(), b = request.plain_input(1).dims();
  if (a.size() < 2 || b.size() < 2) return nullptr;
  Product product;
  if (is_stack_times_matrix(a, b)) {
    const std::int64_t rows = element_count(a) / a.back();
    product.a = row_major_desc({rows, a.back()});
    product.b = row_major_desc({b[b.size() - 2], b.back()});
    product.y = row_major_desc({rows, b.back()});
  } else {
    const std::size_t rank = std::max(a.size(), b.size());
    product.a = row_major_desc(with_rank(a, rank));
    product.b = row_major_desc(with_rank(b, rank));
    product.y = row_major_desc(request.plain_output(0).dims());
  }
  return make_product(request, product);
}

// The matrix, or its transpose without moving an element.
Desc operand(const Dims& dims, bool transposed) {
  if (!transposed) return row_major_desc(dims);
  return strided({dims[1], dims[0]}, {1, dims[1]});
}

std::unique_ptr<Kernel> make_gemm(const Request& request) {
  if (!is_float32_and_not_empty(request)) return nullptr;
  const graph::Node& node = request.node;
  Product product;
  product.a = operand(request.plain_input(0).dims(), node.integer("transA", 0) != 0);
  product.b = operand(request.plain_input(1).dims(), node.integer("transB", 0) != 0);
  product.y = row_major_desc(request.plain_output(0).dims());
  product.scale = node.real("alpha", 1.0f);
  if (request.has_input(2)) {
    if (node.real("beta", 1.0f) != 1.0f) return nullptr;
    const Dims c = with_rank(request.plain_input(2).dims(), 2);
    const bool is_row = c[0] == 1 && c[1] == product.y.get_dims()[1];
    (is_row && product.scale == 1 ? product.bias : product.added) = row_major_desc(c);
  }
  return make_product(request, product);
}

const FactoryRegistration matmul("MatMul", make_matmul);
const FactoryRegistration gemm("Gemm", make_gemm);

}  // namespace

}  // namespace ort_train::runtime::cpu
