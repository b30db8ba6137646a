// Gradients of activation functions. At a kink each takes the side that PyTorch takes.

#include <cmath>
#include <numbers>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Builder;
using graph::Value;

/// Functions with a fused gradient kernel that reads the output.
void relu_gradient(GradientContext& context) {
  context.set(0, context.builder().emit_training("ReluGrad", {context.output_gradient(), context.output()}));
}
void sigmoid_gradient(GradientContext& context) {
  context.set(0, context.builder().emit_training("SigmoidGrad", {context.output_gradient(), context.output()}));
}
void tanh_gradient(GradientContext& context) {
  context.set(0, context.builder().emit_training("TanhGrad", {context.output_gradient(), context.output()}));
}

/// dX = dY for x > 0 and dY * `derivative_below` elsewhere.
void set_two_sided(GradientContext& context, Value* derivative_below, double derivative_above = 1) {
  Builder& builder = context.builder();
  Value* gradient = context.output_gradient();
  Value* above = scaled(builder, gradient, derivative_above);
  Value* below = builder.mul(gradient, derivative_below);
  context.set(0, where(builder, greater(builder, context.input(0), 0), above, below));
}

void leaky_relu_gradient(GradientContext& context) {
  set_two_sided(context, context.builder().scalar_like(context.node().real("alpha", 0.01f), context.output_gradient()));
}

void prelu_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* gradient = context.output_gradient();
  Value* slope = context.input(1);
  if (context.needs(0)) set_two_sided(context, slope);
  if (context.needs(1)) {
    Value* x = context.input(0);
    Value* of_slope = drop_where(builder, greater(builder, x, 0), builder.mul(gradient, x));
    context.set(1, sum_to_shape_of(builder, of_slope, slope));
  }
}

/// For x <= 0, y = alpha * (exp(x) - 1), so that alpha * exp(x) = y + alpha.
void elu_gradient(GradientContext& context) {
  set_two_sided(context, shifted(context.builder(), context.output(), context.node().real("alpha", 1.0f)));
}

void selu_gradient(GradientContext& context) {
  const double alpha = context.node().real("alpha", 1.67326319217681884765625f);
  const double gamma = context.node().real("gamma", 1.05070102214813232421875f);
  set_two_sided(context, shifted(context.builder(), context.output(), alpha * gamma), gamma);
}

/// For x <= 0, y = alpha * (exp(x / alpha) - 1), so that exp(x / alpha) = y / alpha + 1.
void celu_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const double alpha = context.node().real("alpha", 1.0f);
  set_two_sided(context, shifted(builder, scaled(builder, context.output(), 1 / alpha), 1));
}

void thresholded_relu_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* passes = greater(builder, context.input(0), context.node().real("alpha", 1.0f));
  context.set(0, keep_where(builder, passes, context.output_gradient()));
}

void hard_sigmoid_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* y = context.output();
  Value* inside = builder.emit("And", {greater(builder, y, 0), less(builder, y, 1)});
  Value* gradient = scaled(builder, context.output_gradient(), context.node().real("alpha", 0.2f));
  context.set(0, keep_where(builder, inside, gradient));
}

/// y = x * clamp(x / 6 + 1/2, 0, 1): the derivative is 0 below -3, x / 3 + 1/2 up to 3, and 1 above.
void hard_swish_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* x = context.input(0);
  Value* gradient = context.output_gradient();
  Value* middle = builder.mul(gradient, shifted(builder, scaled(builder, x, 1.0 / 3), 0.5));
  Value* up_to_three = drop_where(builder, less(builder, x, -3), middle);
  context.set(0, where(builder, greater(builder, x, 3), gradient, up_to_three));
}

void softplus_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  context.set(0, builder.mul(context.output_gradient(), builder.emit("Sigmoid", {context.input(0)})));
}

/// y = x / (1 + |x|), whose derivative is 1 / (1 + |x|)^2.
void softsign_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* denominator = shifted(builder, builder.emit("Abs", {context.input(0)}), 1);
  context.set(0, builder.div(context.output_gradient(), square(builder, denominator)));
}

/// y = x * t with t = tanh(softplus(x)): y' = t + x * (1 - t^2) * sigmoid(x).
void mish_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* x = context.input(0);
  Value* t = builder.emit("Tanh", {builder.emit("Softplus", {x})});
  Value* slope_of_t = builder.mul(one_minus(builder, square(builder, t)), builder.emit("Sigmoid", {x}));
  Value* derivative = builder.add(t, builder.mul(x, slope_of_t));
  context.set(0, builder.mul(context.output_gradient(), derivative));
}

/// y = x * s with s = sigmoid(alpha * x): dy/dx = s + alpha * y * (1 - s).
void swish_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const double alpha = context.node().real("alpha", 1.0f);
  Value* s = builder.emit("Sigmoid", {scaled(builder, context.input(0), alpha)});
  Value* second = builder.mul(scaled(builder, context.output(), alpha), one_minus(builder, s));
  context.set(0, builder.mul(context.output_gradient(), builder.add(s, second)));
}

/// y = x * P(x) with the normal distribution P: y' = P(x) + x * exp(-x^2 / 2) / sqrt(2 pi).
Value* exact_gelu_derivative(Builder& builder, Value* x) {
  Value* erf = builder.emit("Erf", {scaled(builder, x, 1 / std::numbers::sqrt2)});
  Value* distribution = scaled(builder, shifted(builder, erf, 1), 0.5);
  Value* exponential = builder.emit("Exp", {scaled(builder, square(builder, x), -0.5)});
  Value* density = scaled(builder, exponential, 1 / std::sqrt(2 * std::numbers::pi));
  return builder.add(distribution, builder.mul(x, density));
}

/// y = x/2 * (1 + t) with t = tanh(u), u = sqrt(2/pi) * (x + c * x^3):
/// y' = (1 + t) / 2 + x/2 * (1 - t^2) * sqrt(2/pi) * (1 + 3 c x^2).
Value* tanh_gelu_derivative(Builder& builder, Value* x) {
  const double c = 0.044715;
  const double scale = std::sqrt(2 / std::numbers::pi);
  Value* x_squared = square(builder, x);
  Value* inner = builder.mul(x, shifted(builder, scaled(builder, x_squared, c), 1));
  Value* t = builder.emit("Tanh", {scaled(builder, inner, scale)});
  Value* slope_of_inner = shifted(builder, scaled(builder, x_squared, 3 * c), 1);
  Value* slope_of_t = builder.mul(one_minus(builder, square(builder, t)), slope_of_inner);
  Value* second = scaled(builder, builder.mul(x, slope_of_t), scale / 2);
  return builder.add(scaled(builder, shifted(builder, t, 1), 0.5), second);
}

void gelu_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const std::string form = context.node().string("approximate", "none");
  if (form != "none" && form != "tanh") fail(describe(context.node()), ": unknown approximation '", form, "'");
  Value* x = context.input(0);
  Value* derivative = form == "tanh" ? tanh_gelu_derivative(builder, x) : exact_gelu_derivative(builder, x);
  context.set(0, builder.mul(context.output_gradient(), derivative));
}

/// y = min(max(x, low), high). The gradient passes at the bounds, as in PyTorch; where low >= high, y is high.
void clip_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* gradient = context.output_gradient();
  Value* x = context.input(0);
  Value* low = context.input(1);
  Value* high = context.input(2);
  Value* below = low ? builder.emit("Less", {x, low}) : nullptr;
  Value* above = high ? builder.emit("Greater", {x, high}) : nullptr;
  if (context.needs(0)) {
    Value* passing = below ? drop_where(builder, below, gradient) : gradient;
    context.set(0, above ? drop_where(builder, above, passing) : passing);
  }
  Value* crossed = low && high ? builder.emit("Less", {high, low}) : nullptr;
  if (context.needs(1)) {
    Value* of_low = keep_where(builder, below, gradient);
    if (crossed) of_low = drop_where(builder, crossed, of_low);
    context.set(1, builder.reshape(sum_of_all(builder, of_low), low->dims()));
  }
  if (context.needs(2)) {
    Value* high_taken = crossed ? builder.emit("Or", {above, crossed}) : above;
    context.set(2, builder.reshape(sum_of_all(builder, keep_where(builder, high_taken, gradient)), high->dims()));
  }
}

/// y = x + bias below -lambd, x - bias above lambd, 0 between.
void shrink_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* passes = greater(builder, builder.emit("Abs", {context.input(0)}), context.node().real("lambd", 0.5f));
  context.set(0, keep_where(builder, passes, context.output_gradient()));
}

const GradientRegistration relu_rule("Relu", relu_gradient);
const GradientRegistration sigmoid_rule("Sigmoid", sigmoid_gradient);
const GradientRegistration tanh_rule("Tanh", tanh_gradient);
const GradientRegistration leaky_relu_rule("LeakyRelu", leaky_relu_gradient);
const GradientRegistration prelu_rule("PRelu", prelu_gradient);
const GradientRegistration elu_rule("Elu", elu_gradient);
const GradientRegistration selu_rule("Selu", selu_gradient);
const GradientRegistration celu_rule("Celu", celu_gradient);
const GradientRegistration thresholded_relu_rule("ThresholdedRelu", thresholded_relu_gradient);
const GradientRegistration hard_sigmoid_rule("HardSigmoid", hard_sigmoid_gradient);
const GradientRegistration hard_swish_rule("HardSwish", hard_swish_gradient);
const GradientRegistration softplus_rule("Softplus", softplus_gradient);
const GradientRegistration softsign_rule("Softsign", softsign_gradient);
const GradientRegistration mish_rule("Mish", mish_gradient);
const GradientRegistration swish_rule("Swish", swish_gradient);
const GradientRegistration gelu_rule("Gelu", gelu_gradient);
const GradientRegistration clip_rule("Clip", clip_gradient);
const GradientRegistration shrink_rule("Shrink", shrink_gradient);

}  // namespace
}  // namespace ort_train::passes
