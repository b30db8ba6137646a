// Gradients of operators that pick or place elements by index. Picking and placing are each other's gradients.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

void gather_gradient(GradientContext& context) {
  const Dims dims = context.input(0)->dims();
  const std::int64_t axis =
      normalized_axis(context.node(), context.node().integer("axis", 0), context.input(0)->rank());
  context.set(0, context.builder().emit_training("GatherGrad", {context.output_gradient(), context.input(1)},
                                                 {{"axis", axis}, {"input_shape", std::vector<std::int64_t>(dims)}}));
}

void gather_elements_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* zeros = builder.filled_like(0, context.input(0));
  context.set(0, builder.emit("ScatterElements", {zeros, context.input(1), context.output_gradient()},
                              {{"axis", context.node().integer("axis", 0)}, {"reduction", std::string("add")}}));
}

/// The values are the elements at the indices that the node gives beside them; no index occurs twice.
void top_k_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  if (context.output(1) == nullptr) {
    fail(describe(node), ": its gradient reads the indices, but the node does not give them");
  }
  Value* zeros = builder.filled_like(0, context.input(0));
  context.set(0, builder.emit("ScatterElements", {zeros, context.output(1), context.output_gradient()},
                              {{"axis", node.integer("axis", -1)}}));
}

/// Position along each of the leading `axes` of an array of `dims`, as int64 [dims..., axes].
Tensor leading_positions(const Dims& dims, std::int64_t axes) {
  const Dims strides = row_major_strides(dims);
  Dims result_dims = dims;
  result_dims.push_back(axes);
  Tensor positions(DataType::int64, result_dims);
  std::int64_t* out = positions.data<std::int64_t>();
  for (std::int64_t element = 0; element < element_count(dims); ++element) {
    for (std::int64_t axis = 0; axis < axes; ++axis) *out++ = element / strides[axis] % dims[axis];
  }
  return positions;
}

/// GatherND's indices with the batch positions written out, so that no batch axes are left.
Value* indices_without_batch(Builder& builder, Value* indices, std::int64_t batch_axes) {
  if (batch_axes == 0) return indices;
  Dims dims = indices->dims();
  dims.pop_back();
  Value* positions = builder.constant(leading_positions(dims, batch_axes));
  return builder.emit("Concat", {positions, indices}, {{"axis", std::int64_t{-1}}});
}

void gather_nd_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* indices = indices_without_batch(builder, context.input(1), context.node().integer("batch_dims", 0));
  Value* zeros = builder.filled_like(0, context.input(0));
  context.set(
      0, builder.emit("ScatterND", {zeros, indices, context.output_gradient()}, {{"reduction", std::string("add")}}));
}

/// `scatter` and `gather` are the operators of one family: Elements (along an axis) or ND.
struct ScatterFamily {
  std::string scatter, gather;
  Attributes attributes;
};

/// Of the updates: the gradient at the indices. Of the data: the whole gradient where updates are added, and nothing at
/// the indices where they replace.
void set_scatter_gradients(GradientContext& context, const ScatterFamily& family) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  const std::string reduction = node.string("reduction", "none");
  if (reduction != "none" && reduction != "add") {
    fail(describe(node), ": the gradient of the reduction '", reduction, "' is not supported, only 'none' and 'add'");
  }
  Value* indices = context.input(1);
  Value* gradient = context.output_gradient();
  if (context.needs(0)) {
    Value* zeros = reduction == "add" ? nullptr : builder.filled_like(0, context.input(2));
    context.set(0, zeros ? builder.emit(family.scatter, {gradient, indices, zeros}, family.attributes) : gradient);
  }
  if (context.needs(2)) context.set(2, builder.emit(family.gather, {gradient, indices}, family.attributes));
}

void scatter_elements_gradient(GradientContext& context) {
  set_scatter_gradients(context, {"ScatterElements", "GatherElements", {{"axis", context.node().integer("axis", 0)}}});
}

void scatter_nd_gradient(GradientContext& context) { set_scatter_gradients(context, {"ScatterND", "GatherND", {}}); }

const GradientRegistration gather_rule("Gather", gather_gradient);
const GradientRegistration gather_elements_rule("GatherElements", gather_elements_gradient);
const GradientRegistration gather_nd_rule("GatherND", gather_nd_gradient);
const GradientRegistration top_k_rule("TopK", top_k_gradient);
const GradientRegistration scatter_elements_rule("ScatterElements", scatter_elements_gradient);
const GradientRegistration scatter_nd_rule("ScatterND", scatter_nd_gradient);

}  // namespace
}  // namespace ort_train::passes
