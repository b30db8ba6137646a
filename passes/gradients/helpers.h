#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "passes/gradients/gradient_rule.h"

namespace ort_train::passes {

/// `value` times a number; the value itself for 1.
graph::Value* scaled(graph::Builder& builder, graph::Value* value, double factor);

/// `value` plus a number.
graph::Value* shifted(graph::Builder& builder, graph::Value* value, double offset);

/// 1 - value.
graph::Value* one_minus(graph::Builder& builder, graph::Value* value);

graph::Value* square(graph::Builder& builder, graph::Value* value);

/// value > bound, value < bound, value == bound, elementwise; bool.
graph::Value* greater(graph::Builder& builder, graph::Value* value, double bound);
graph::Value* less(graph::Builder& builder, graph::Value* value, double bound);
graph::Value* equal(graph::Builder& builder, graph::Value* value, double bound);

graph::Value* where(graph::Builder& builder, graph::Value* condition, graph::Value* yes, graph::Value* no);

/// `value` where the condition holds, 0 elsewhere (or the other way round). A product with a 0/1 mask would turn an
/// infinity that is masked away into a NaN.
graph::Value* keep_where(graph::Builder& builder, graph::Value* condition, graph::Value* value);
graph::Value* drop_where(graph::Builder& builder, graph::Value* condition, graph::Value* value);

/// The sum of all elements, as a scalar.
graph::Value* sum_of_all(graph::Builder& builder, graph::Value* value);

/// The matrix (or batch of matrices) with its last two axes exchanged.
graph::Value* transpose_matrix(graph::Builder& builder, graph::Value* value);

/// The elements of an integer input of the node. Throws, naming node and input, when they are not known before the
/// step runs.
std::vector<std::int64_t> constant_integers(const graph::Node& node, int index, std::string_view input_name);

/// Axis -1 becomes rank - 1. Throws, naming the node, when it is outside [-rank, rank).
std::int64_t normalized_axis(const graph::Node& node, std::int64_t axis, std::int64_t rank);

/// Throws when a gradient reaches an output that no gradient can pass, such as a saved mean.
void refuse_gradient_of_output(const GradientContext& context, int index, std::string_view output_name);

}  // namespace ort_train::passes
