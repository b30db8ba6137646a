// Gradients of unary mathematical functions, by their textbook derivatives.

#include <cmath>
#include <numbers>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Builder;
using graph::Value;

/// dX = dY * derivative(x, y).
template <auto derivative>
void multiply_by(GradientContext& context) {
  Builder& builder = context.builder();
  context.set(0, builder.mul(context.output_gradient(), derivative(builder, context.input(0), context.output())));
}

/// dX = dY / divisor(x, y).
template <auto divisor>
void divide_by(GradientContext& context) {
  Builder& builder = context.builder();
  context.set(0, builder.div(context.output_gradient(), divisor(builder, context.input(0), context.output())));
}

/// dX = -dY / divisor(x, y).
template <auto divisor>
void divide_negative_by(GradientContext& context) {
  Builder& builder = context.builder();
  Value* negative = builder.neg(context.output_gradient());
  context.set(0, builder.div(negative, divisor(builder, context.input(0), context.output())));
}

Value* output_itself(Builder&, Value*, Value* y) { return y; }
Value* input_itself(Builder&, Value* x, Value*) { return x; }

/// Sign is 0 at 0, and so is the derivative.
Value* sign(Builder& builder, Value* x, Value*) { return builder.emit("Sign", {x}); }

Value* twice_output(Builder& builder, Value*, Value* y) { return scaled(builder, y, 2); }
Value* minus_output_squared(Builder& builder, Value*, Value* y) { return builder.neg(square(builder, y)); }
Value* cosine(Builder& builder, Value* x, Value*) { return builder.emit("Cos", {x}); }
Value* minus_sine(Builder& builder, Value* x, Value*) { return builder.neg(builder.emit("Sin", {x})); }
Value* hyperbolic_cosine(Builder& builder, Value* x, Value*) { return builder.emit("Cosh", {x}); }
Value* hyperbolic_sine(Builder& builder, Value* x, Value*) { return builder.emit("Sinh", {x}); }
Value* one_plus_output_squared(Builder& builder, Value*, Value* y) { return shifted(builder, square(builder, y), 1); }

/// 1 - x^2 and x^2 - 1 as products: exact near |x| = 1, where the differences of squares are not.
Value* one_minus_square(Builder& builder, Value* x, Value*) {
  return builder.mul(one_minus(builder, x), shifted(builder, x, 1));
}
Value* square_minus_one(Builder& builder, Value* x) {
  return builder.mul(shifted(builder, x, -1), shifted(builder, x, 1));
}

Value* one_plus_square(Builder& builder, Value* x, Value*) { return shifted(builder, square(builder, x), 1); }

Value* root_of_one_minus_square(Builder& builder, Value* x, Value* y) {
  return builder.emit("Sqrt", {one_minus_square(builder, x, y)});
}
Value* root_of_one_plus_square(Builder& builder, Value* x, Value* y) {
  return builder.emit("Sqrt", {one_plus_square(builder, x, y)});
}
Value* root_of_square_minus_one(Builder& builder, Value* x, Value*) {
  return builder.emit("Sqrt", {square_minus_one(builder, x)});
}

/// 2 / sqrt(pi) * exp(-x^2).
Value* bell_curve(Builder& builder, Value* x, Value*) {
  Value* exponential = builder.emit("Exp", {builder.neg(square(builder, x))});
  return scaled(builder, exponential, 2 / std::sqrt(std::numbers::pi));
}

void neg_gradient(GradientContext& context) { context.set(0, context.builder().neg(context.output_gradient())); }

const GradientRegistration abs_rule("Abs", multiply_by<sign>);
const GradientRegistration neg_rule("Neg", neg_gradient);
const GradientRegistration exp_rule("Exp", multiply_by<output_itself>);
const GradientRegistration log_rule("Log", divide_by<input_itself>);
const GradientRegistration sqrt_rule("Sqrt", divide_by<twice_output>);
const GradientRegistration reciprocal_rule("Reciprocal", multiply_by<minus_output_squared>);
const GradientRegistration sin_rule("Sin", multiply_by<cosine>);
const GradientRegistration cos_rule("Cos", multiply_by<minus_sine>);
const GradientRegistration tan_rule("Tan", multiply_by<one_plus_output_squared>);
const GradientRegistration asin_rule("Asin", divide_by<root_of_one_minus_square>);
const GradientRegistration acos_rule("Acos", divide_negative_by<root_of_one_minus_square>);
const GradientRegistration atan_rule("Atan", divide_by<one_plus_square>);
const GradientRegistration sinh_rule("Sinh", multiply_by<hyperbolic_cosine>);
const GradientRegistration cosh_rule("Cosh", multiply_by<hyperbolic_sine>);
const GradientRegistration asinh_rule("Asinh", divide_by<root_of_one_plus_square>);
const GradientRegistration acosh_rule("Acosh", divide_by<root_of_square_minus_one>);
const GradientRegistration atanh_rule("Atanh", divide_by<one_minus_square>);
const GradientRegistration erf_rule("Erf", multiply_by<bell_curve>);

}  // namespace
}  // namespace ort_train::passes
