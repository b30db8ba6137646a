// Gradients of normalizations.

#include <numeric>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

constexpr float default_epsilon = 1e-5f;

/// [C] as [C, 1, 1, ...], so that it lines up with the channel axis of an array of that rank.
Value* along_channels(Builder& builder, Value* per_channel, std::int64_t rank) {
  Dims dims(rank - 1, 1);
  dims[0] = per_channel->dims()[0];
  return builder.reshape(per_channel, dims);
}

Value* sum_per_channel(Builder& builder, Value* value) {
  std::vector<std::int64_t> axes(value->dims().size() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  axes[0] = 0;
  return builder.reduce_sum(value, axes, false);
}

/// Inference form: y = (x - mean) * inverse * scale + B with the stored statistics and inverse = (var + epsilon)^-1/2.
void batch_normalization_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  if (node.integer("training_mode", 0) != 0) {
    fail(describe(node), ": a normalization by batch statistics must be in training form before gradients are built");
  }
  Value* x = context.input(0);
  Value* scale = context.input(1);
  Value* mean = context.input(3);
  Value* variance = context.input(4);
  Value* gradient = context.output_gradient();
  const std::int64_t rank = x->rank();

  Value* shifted_variance = shifted(builder, variance, node.real("epsilon", default_epsilon));
  Value* inverse = builder.emit("Reciprocal", {builder.emit("Sqrt", {shifted_variance})});
  Value* factor = builder.mul(scale, inverse);
  Value* sum = sum_per_channel(builder, gradient);
  // dScale, and the variance's, need the sum of dY * (x - mean) / sqrt(var + epsilon).
  const auto correlation = [&] {
    Value* centered = builder.sub(x, along_channels(builder, mean, rank));
    return builder.mul(sum_per_channel(builder, builder.mul(gradient, centered)), inverse);
  };
  if (context.needs(0)) context.set(0, builder.mul(gradient, along_channels(builder, factor, rank)));
  if (context.needs(1)) context.set(1, correlation());
  if (context.needs(2)) context.set(2, sum);
  if (context.needs(3)) context.set(3, builder.neg(builder.mul(sum, factor)));
  if (context.needs(4)) {
    Value* product = builder.mul(correlation(), builder.mul(factor, inverse));
    context.set(4, scaled(builder, product, -0.5));
  }
}

// Cleaning up before autodiff may have taken away statistics that nothing read yet.
void give_batch_statistics(graph::Node& node) {
  const std::vector<std::string> outputs = {"Y", "new_running_mean", "new_running_var", "batch_mean", "batch_var"};
  for (std::size_t index = node.outputs().size(); index < outputs.size(); ++index) {
    node.add_output(node.output()->name() + "." + outputs[index], node.input(3)->type());
  }
}

void batch_normalization_training_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  refuse_gradient_of_output(context, 1, "new_running_mean");
  refuse_gradient_of_output(context, 2, "new_running_var");
  refuse_gradient_of_output(context, 3, "batch_mean");
  refuse_gradient_of_output(context, 4, "batch_var");
  give_batch_statistics(context.node());
  const std::string activation = node.string("activation", "");
  std::vector<Value*> inputs = {context.output_gradient(), context.input(0), context.input(1), context.output(3),
                                context.output(4)};
  if (!activation.empty()) inputs.push_back(context.output(0));
  const auto gradients = context.builder().emit_training_many(
      "BatchNormalizationGrad", inputs, 3,
      Attributes{{"epsilon", node.real("epsilon", default_epsilon)}, {"activation", activation}});
  for (int i = 0; i < 3; ++i) context.set(i, gradients[i]);
}

struct Statistics {
  Value* mean;
  Value* inverse_deviation;
};

std::vector<std::int64_t> axes_from(std::int64_t axis, std::int64_t rank) {
  std::vector<std::int64_t> axes(rank - axis);
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

Statistics computed_statistics(Builder& builder, Value* x, std::int64_t axis, float epsilon) {
  Value* axes = builder.int64s(axes_from(axis, x->rank()));
  const Attributes keep = {{"keepdims", std::int64_t{1}}};
  Value* mean = builder.emit("ReduceMean", {x, axes}, keep);
  Value* variance = builder.emit("ReduceMean", {square(builder, builder.sub(x, mean)), axes}, keep);
  Value* deviation = builder.emit("Sqrt", {shifted(builder, variance, epsilon)});
  return {mean, builder.emit("Reciprocal", {deviation})};
}

/// Mean and 1 / standard deviation that the node saves. ONNX saves them in float32 even for a float64 input; then they
/// are computed anew, in float64.
Statistics layer_statistics(GradientContext& context, std::int64_t axis) {
  graph::Node& node = context.node();
  Value* x = context.input(0);
  const bool can_be_added = node.outputs().size() == 1 && x->dtype() == DataType::float32;
  if (can_be_added) {
    Dims dims = x->dims();
    std::fill(dims.begin() + axis, dims.end(), 1);
    node.add_output(text(node.output()->name(), ".mean"), graph::Type(DataType::float32, dims));
    node.add_output(text(node.output()->name(), ".inverse_deviation"), graph::Type(DataType::float32, dims));
  }
  Value* mean = node.output(1);
  Value* inverse_deviation = node.output(2);
  const bool saved = mean && inverse_deviation && mean->dtype() == x->dtype();
  if (saved) return {mean, inverse_deviation};
  return computed_statistics(context.builder(), x, axis, node.real("epsilon", default_epsilon));
}

void layer_normalization_gradient(GradientContext& context) {
  refuse_gradient_of_output(context, 1, "Mean");
  refuse_gradient_of_output(context, 2, "InvStdDev");
  Builder& builder = context.builder();
  Value* x = context.input(0);
  Value* scale = context.input(1);
  const std::int64_t axis = normalized_axis(context.node(), context.node().integer("axis", -1), x->rank());
  const Statistics statistics = layer_statistics(context, axis);
  // A scale of fewer axes (or of extent 1 along some) stands for the broadcast one.
  const Dims dims = x->dims();
  const Dims normalized_dims(dims.begin() + axis, dims.end());
  Value* full_scale = scale->dims() == normalized_dims ? scale : builder.expand(scale, normalized_dims);
  const auto gradients = builder.emit_training_many(
      "LayerNormalizationGrad",
      {context.output_gradient(), x, full_scale, statistics.mean, statistics.inverse_deviation}, 3,
      Attributes{{"axis", axis}});
  context.set(0, gradients[0]);
  if (context.needs(1)) context.set(1, sum_to_shape_of(builder, gradients[1], scale));
  if (context.needs(2)) context.set(2, sum_to_shape_of(builder, gradients[2], context.input(2)));
}

void instance_normalization_gradient(GradientContext& context) {
  const auto gradients = context.builder().emit_training_many(
      "InstanceNormalizationGrad", {context.output_gradient(), context.input(0), context.input(1)}, 3,
      Attributes{{"epsilon", context.node().real("epsilon", default_epsilon)}});
  for (int i = 0; i < 3; ++i) context.set(i, gradients[i]);
}

void local_response_normalization_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  context.set(
      0, context.builder().emit_training("LRNGrad", {context.output_gradient(), context.input(0), context.output()},
                                         {{"alpha", node.real("alpha", 0.0001f)},
                                          {"beta", node.real("beta", 0.75f)},
                                          {"bias", node.real("bias", 1.0f)},
                                          {"size", node.integer("size", 1)}}));
}

/// y = x / n with the norm n along an axis: dX = (dY - d(n)/dx * sum(dY * y)) / n, where d(n)/dx is sign(x) for p = 1
/// and y for p = 2. Where n is 0, y is defined as 0, and so is the gradient.
void lp_normalization_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  Value* x = context.input(0);
  Value* y = context.output();
  Value* gradient = context.output_gradient();
  const bool euclidean = node.integer("p", 2) == 2;
  const std::int64_t axis = normalized_axis(node, node.integer("axis", -1), x->rank());
  const Attributes keep = {{"keepdims", std::int64_t{1}}};
  Value* norm = builder.emit(euclidean ? "ReduceL2" : "ReduceL1", {x, builder.int64s({axis})}, keep);
  Value* slope = euclidean ? y : builder.emit("Sign", {x});
  Value* correlation = builder.reduce_sum(builder.mul(gradient, y), {axis}, true);
  Value* difference = builder.sub(gradient, builder.mul(slope, correlation));
  context.set(0, drop_where(builder, equal(builder, norm, 0), builder.div(difference, norm)));
}

const GradientRegistration batch_rule("BatchNormalization", batch_normalization_gradient);
const GradientRegistration batch_training_rule("BatchNormalizationTraining", batch_normalization_training_gradient,
                                               graph::training_domain);
const GradientRegistration layer_rule("LayerNormalization", layer_normalization_gradient);
const GradientRegistration instance_rule("InstanceNormalization", instance_normalization_gradient);
const GradientRegistration local_response_rule("LRN", local_response_normalization_gradient);
const GradientRegistration lp_rule("LpNormalization", lp_normalization_gradient);

}  // namespace
}  // namespace ort_train::passes
