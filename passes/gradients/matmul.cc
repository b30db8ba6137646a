// Gradients of matrix products.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

Value* gemm(Builder& builder, Value* a, bool transpose_a, Value* b, bool transpose_b, float alpha = 1) {
  return builder.emit(
      "Gemm", {a, b},
      Attributes{{"alpha", alpha}, {"transA", std::int64_t{transpose_a}}, {"transB", std::int64_t{transpose_b}}});
}

/// Y = alpha * op(A) op(B) + beta * C, where op transposes or not.
void gemm_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  const float alpha = node.real("alpha", 1.0f);
  const bool transpose_a = node.integer("transA", 0) != 0;
  const bool transpose_b = node.integer("transB", 0) != 0;
  Value* a = context.input(0);
  Value* b = context.input(1);
  Value* gradient = context.output_gradient();
  if (context.needs(0)) {
    context.set(0, transpose_a ? gemm(builder, b, transpose_b, gradient, true, alpha)
                               : gemm(builder, gradient, false, b, !transpose_b, alpha));
  }
  if (context.needs(1)) {
    context.set(1, transpose_b ? gemm(builder, gradient, true, a, transpose_a, alpha)
                               : gemm(builder, a, !transpose_a, gradient, false, alpha));
  }
  if (context.needs(2)) {
    Value* sum = sum_to_shape_of(builder, gradient, context.input(2));
    context.set(2, scaled(builder, sum, node.real("beta", 1.0f)));
  }
}

/// All axes but the last as one: what a product with a single matrix sees.
Value* as_rows(Builder& builder, Value* value) {
  const Dims dims = value->dims();
  if (dims.size() == 2) return value;
  const std::int64_t columns = dims.back();
  return builder.reshape(value, {element_count(std::span(dims).first(dims.size() - 1)), columns});
}

Value* reshaped_like(Builder& builder, Value* value, const Value* like) {
  return value->dims() == like->dims() ? value : builder.reshape(value, like->dims());
}

/// A stack of matrices times one matrix: both gradients are single products, with no sum over the stack.
void set_gradients_of_product_with_matrix(GradientContext& context) {
  Builder& builder = context.builder();
  Value* a = context.input(0);
  Value* b = context.input(1);
  Value* gradient = as_rows(builder, context.output_gradient());
  if (context.needs(0)) context.set(0, reshaped_like(builder, gemm(builder, gradient, false, b, true), a));
  if (context.needs(1)) context.set(1, gemm(builder, as_rows(builder, a), true, gradient, false));
}

/// A vector is a row on the left and a column on the right.
Dims matrix_dims(const Value* operand, bool left) {
  Dims dims = operand->dims();
  if (dims.size() != 1) return dims;
  return left ? Dims{1, dims[0]} : Dims{dims[0], 1};
}

Value* reshaped(Builder& builder, Value* value, const Dims& dims) {
  return value->dims() == dims ? value : builder.reshape(value, dims);
}

void set_gradients_of_general_product(GradientContext& context) {
  Builder& builder = context.builder();
  Value* a = reshaped(builder, context.input(0), matrix_dims(context.input(0), true));
  Value* b = reshaped(builder, context.input(1), matrix_dims(context.input(1), false));
  Dims dims = context.output()->dims();
  if (context.input(0)->rank() == 1) dims.insert(dims.end() - (context.input(1)->rank() == 1 ? 0 : 1), 1);
  if (context.input(1)->rank() == 1) dims.push_back(1);
  Value* gradient = reshaped(builder, context.output_gradient(), dims);
  if (context.needs(0)) {
    Value* of_a = builder.emit("MatMul", {gradient, transpose_matrix(builder, b)});
    context.set(0, reshaped_like(builder, sum_to_shape_of(builder, of_a, a), context.input(0)));
  }
  if (context.needs(1)) {
    Value* of_b = builder.emit("MatMul", {transpose_matrix(builder, a), gradient});
    context.set(1, reshaped_like(builder, sum_to_shape_of(builder, of_b, b), context.input(1)));
  }
}

void matmul_gradient(GradientContext& context) {
  if (context.input(0)->rank() >= 2 && context.input(1)->rank() == 2) {
    set_gradients_of_product_with_matrix(context);
  } else {
    set_gradients_of_general_product(context);
  }
}

const GradientRegistration gemm_rule("Gemm", gemm_gradient);
const GradientRegistration matmul_rule("MatMul", matmul_gradient);

}  // namespace
}  // namespace ort_train::passes
