#include "passes/gradients/helpers.h"

#include <numeric>

namespace ort_train::passes {

using graph::Builder;
using graph::Value;

Value* scaled(Builder& builder, Value* value, double factor) {
  if (factor == 1) return value;
  if (factor == -1) return builder.neg(value);
  return builder.mul(value, builder.scalar_like(factor, value));
}

Value* shifted(Builder& builder, Value* value, double offset) {
  return offset == 0 ? value : builder.add(value, builder.scalar_like(offset, value));
}

Value* one_minus(Builder& builder, Value* value) { return builder.sub(builder.scalar_like(1, value), value); }

Value* square(Builder& builder, Value* value) { return builder.mul(value, value); }

Value* greater(Builder& builder, Value* value, double bound) {
  return builder.emit("Greater", {value, builder.scalar_like(bound, value)});
}

Value* less(Builder& builder, Value* value, double bound) {
  return builder.emit("Less", {value, builder.scalar_like(bound, value)});
}

Value* equal(Builder& builder, Value* value, double bound) {
  return builder.emit("Equal", {value, builder.scalar_like(bound, value)});
}

Value* where(Builder& builder, Value* condition, Value* yes, Value* no) {
  return builder.emit("Where", {condition, yes, no});
}

Value* keep_where(Builder& builder, Value* condition, Value* value) {
  return where(builder, condition, value, builder.scalar_like(0, value));
}

Value* drop_where(Builder& builder, Value* condition, Value* value) {
  return where(builder, condition, builder.scalar_like(0, value), value);
}

Value* sum_of_all(Builder& builder, Value* value) {
  std::vector<std::int64_t> axes(value->dims().size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? value : builder.reduce_sum(value, axes, false);
}

Value* transpose_matrix(Builder& builder, Value* value) {
  std::vector<std::int64_t> permutation(value->dims().size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 2], permutation[permutation.size() - 1]);
  return builder.transpose(value, permutation);
}

std::vector<std::int64_t> constant_integers(const graph::Node& node, int index, std::string_view input_name) {
  const Value* value = node.input(index);
  if (value == nullptr) return {};
  if (!value->is_initializer()) {
    fail(describe(node), ": its gradient needs the input '", input_name, "' ('", value->name(),
         "') as a constant, but it is computed while the graph runs");
  }
  return value->initial().to_int64s();
}

std::int64_t normalized_axis(const graph::Node& node, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) fail(describe(node), ": axis ", axis, " is outside an array of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

void refuse_gradient_of_output(const GradientContext& context, int index, std::string_view output_name) {
  if (context.output_gradient(index) == nullptr) return;
  fail(describe(context.node()), ": the loss depends on its output '", output_name, "' ('",
       context.output(index)->name(), "'), through which no gradient can be computed");
}

}  // namespace ort_train::passes
