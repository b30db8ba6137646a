// Gradients of convolutions. A convolution is linear in its data and in its weight, and so are ConvGradInput (its
// transpose by the data) and ConvGradWeight (by the weight): the gradients of one are instances of the others.

#include <numeric>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

/// The geometry of a convolution with weight [M, C / group, k1, k2, ...], every attribute explicit.
Attributes geometry(const graph::Node& node, const Value* weight) {
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") {
    fail(describe(node), ": auto_pad ", auto_pad, " must be resolved to explicit pads before gradients are built");
  }
  const Dims dims = weight->dims();
  const std::vector<std::int64_t> kernel(dims.begin() + 2, dims.end());
  const std::vector<std::int64_t> ones(kernel.size(), 1);
  return {{"kernel_shape", node.integers("kernel_shape", kernel)},
          {"strides", node.integers("strides", ones)},
          {"dilations", node.integers("dilations", ones)},
          {"pads", node.integers("pads", std::vector<std::int64_t>(2 * kernel.size(), 0))},
          {"group", node.integer("group", 1)}};
}

Value* gradient_of_data(Builder& builder, Value* gradient, Value* weight, Attributes attributes, const Dims& dims) {
  attributes["input_shape"] = std::vector<std::int64_t>(dims);
  return builder.emit_training("ConvGradInput", {gradient, weight}, std::move(attributes));
}

/// The gradient of the weight, and of the bias when asked for.
std::vector<Value*> gradient_of_weight(Builder& builder, Value* gradient, Value* data, Attributes attributes,
                                       const Dims& weight_dims, bool with_bias = false) {
  attributes["weight_shape"] = std::vector<std::int64_t>(weight_dims);
  return builder.emit_training_many("ConvGradWeight", {gradient, data}, with_bias ? 2 : 1, std::move(attributes));
}

/// The sum over batch and space.
Value* sum_per_channel(Builder& builder, Value* gradient) {
  std::vector<std::int64_t> axes(gradient->dims().size() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  axes[0] = 0;
  return builder.reduce_sum(gradient, axes, false);
}

void convolution_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* data = context.input(0);
  Value* weight = context.input(1);
  Value* gradient = context.output_gradient();
  const Attributes attributes = geometry(context.node(), weight);
  if (context.needs(0)) context.set(0, gradient_of_data(builder, gradient, weight, attributes, data->dims()));
  if (context.needs(1)) {
    const auto results = gradient_of_weight(builder, gradient, data, attributes, weight->dims(), context.needs(2));
    context.set(1, results[0]);
    if (context.needs(2)) context.set(2, results[1]);
  } else if (context.needs(2)) {
    context.set(2, sum_per_channel(builder, gradient));
  }
}

/// The transposed convolution of input 0 with input 1: its gradients are a convolution, and the weight gradient of a
/// convolution whose data is the gradient and whose result is the input.
void set_gradients_of_transposed(GradientContext& context, const Attributes& attributes) {
  Builder& builder = context.builder();
  Value* data = context.input(0);
  Value* weight = context.input(1);
  Value* gradient = context.output_gradient();
  if (context.needs(0)) context.set(0, builder.emit("Conv", {gradient, weight}, attributes));
  if (context.needs(1)) {
    context.set(1, gradient_of_weight(builder, data, gradient, attributes, weight->dims())[0]);
  }
}

void grad_input_gradient(GradientContext& context) {
  set_gradients_of_transposed(context, geometry(context.node(), context.input(1)));
}

void transposed_convolution_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  if (node.has("output_shape")) {
    fail(describe(node), ": output_shape must be resolved to explicit pads before gradients are built");
  }
  set_gradients_of_transposed(context, geometry(node, context.input(1)));
  if (context.needs(2)) context.set(2, sum_per_channel(context.builder(), context.output_gradient()));
}

const GradientRegistration convolution_rule("Conv", convolution_gradient);
const GradientRegistration transposed_convolution_rule("ConvTranspose", transposed_convolution_gradient);
const GradientRegistration grad_input_rule("ConvGradInput", grad_input_gradient, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
