// Gradients of elementwise functions of two and more operands; each operand's is summed over the axes it was
// broadcast along.

#include <cmath>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Builder;
using graph::Value;

void set_summed(GradientContext& context, int index, Value* gradient) {
  context.set(index, sum_to_shape_of(context.builder(), gradient, context.input(index)));
}

void add_gradient(GradientContext& context) {
  for (int i = 0; i < 2; ++i) {
    if (context.needs(i)) set_summed(context, i, context.output_gradient());
  }
}

void sub_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  if (context.needs(0)) set_summed(context, 0, context.output_gradient());
  if (context.needs(1)) {
    // Summed first: the negation then has fewer elements.
    context.set(1, builder.neg(sum_to_shape_of(builder, context.output_gradient(), context.input(1))));
  }
}

void mul_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  for (int i = 0; i < 2; ++i) {
    if (context.needs(i)) set_summed(context, i, builder.mul(context.output_gradient(), context.input(1 - i)));
  }
}

/// y = a / b: da = dy / b, db = -dy * y / b.
void div_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* quotient = builder.div(context.output_gradient(), context.input(1));
  if (context.needs(0)) set_summed(context, 0, quotient);
  if (context.needs(1)) set_summed(context, 1, builder.neg(builder.mul(quotient, context.output())));
}

/// The element of a scalar constant, if it is one.
const double* constant_element(const Value* value, double& storage) {
  if (!value->is_constant() || value->initial().size() != 1) return nullptr;
  storage = value->initial().to_doubles().front();
  return &storage;
}

/// d(a^b)/da = b * a^(b-1), and 0 for b = 0 even where a^(b-1) is infinite.
Value* derivative_by_base(Builder& builder, Value* base, Value* exponent) {
  double storage = 0;
  if (const double* constant = constant_element(exponent, storage)) {
    if (*constant == 1) return nullptr;
    if (*constant == 2) return scaled(builder, base, 2);
    Value* power = builder.emit("Pow", {base, builder.scalar_like(*constant - 1, base)});
    return scaled(builder, power, *constant);
  }
  Value* b = builder.cast(exponent, base->dtype());
  Value* power = builder.emit("Pow", {base, shifted(builder, b, -1)});
  return drop_where(builder, equal(builder, b, 0), builder.mul(b, power));
}

/// d(a^b)/db = a^b * log(a), and 0 for a = 0, b >= 0, where it is the limit.
Value* derivative_by_exponent(Builder& builder, Value* base, Value* exponent, Value* power) {
  Value* log = builder.emit("Log", {base});
  Value* negative = less(builder, exponent, 0);
  Value* at_zero = builder.emit("And", {equal(builder, base, 0), builder.emit("Not", {negative})});
  return drop_where(builder, at_zero, builder.mul(power, log));
}

void pow_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* gradient = context.output_gradient();
  Value* base = context.input(0);
  Value* exponent = context.input(1);
  double storage = 0;
  const double* constant = constant_element(exponent, storage);
  if (context.needs(0) && !(constant && *constant == 0)) {
    Value* derivative = derivative_by_base(builder, base, exponent);
    set_summed(context, 0, derivative ? builder.mul(gradient, derivative) : gradient);
  }
  if (context.needs(1)) {
    Value* derivative = derivative_by_exponent(builder, base, exponent, context.output());
    set_summed(context, 1, builder.cast(builder.mul(gradient, derivative), exponent->dtype()));
  }
}

/// y = a - trunc(a / b) * b (floor instead of trunc without fmod): da = dy, db = -dy * trunc(a / b).
void mod_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* gradient = context.output_gradient();
  if (context.needs(0)) set_summed(context, 0, gradient);
  if (context.needs(1)) {
    // From the remainder: rounding a / b itself could fall on the wrong side of an integer.
    Value* whole = builder.sub(context.input(0), context.output());
    Value* quotient = builder.emit("Round", {builder.div(whole, context.input(1))});
    set_summed(context, 1, builder.neg(builder.mul(gradient, quotient)));
  }
}

/// Max and Min: an element's gradient goes to the operands that attain it, in equal shares.
void extremum_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const int operands = static_cast<int>(context.node().inputs().size());
  if (operands == 1) {
    context.set(0, context.output_gradient());
    return;
  }
  Value* y = context.output();
  std::vector<Value*> attained;
  attained.reserve(operands);
  for (int i = 0; i < operands; ++i) {
    attained.push_back(builder.cast(builder.emit("Equal", {context.input(i), y}), y->dtype()));
  }
  Value* count = operands == 2 ? builder.add(attained[0], attained[1]) : builder.emit("Sum", attained);
  Value* share = builder.div(context.output_gradient(), count);
  for (int i = 0; i < operands; ++i) {
    if (context.needs(i)) set_summed(context, i, builder.mul(share, attained[i]));
  }
}

void sum_gradient(GradientContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (context.needs(i)) set_summed(context, i, context.output_gradient());
  }
}

void mean_gradient(GradientContext& context) {
  const int operands = static_cast<int>(context.node().inputs().size());
  Value* share = scaled(context.builder(), context.output_gradient(), 1.0 / operands);
  for (int i = 0; i < operands; ++i) {
    if (context.needs(i)) set_summed(context, i, share);
  }
}

void where_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* condition = context.input(0);
  Value* gradient = context.output_gradient();
  if (context.needs(1)) set_summed(context, 1, keep_where(builder, condition, gradient));
  if (context.needs(2)) set_summed(context, 2, drop_where(builder, condition, gradient));
}

const GradientRegistration add_rule("Add", add_gradient);
const GradientRegistration sub_rule("Sub", sub_gradient);
const GradientRegistration mul_rule("Mul", mul_gradient);
const GradientRegistration div_rule("Div", div_gradient);
const GradientRegistration pow_rule("Pow", pow_gradient);
const GradientRegistration mod_rule("Mod", mod_gradient);
const GradientRegistration max_rule("Max", extremum_gradient);
const GradientRegistration min_rule("Min", extremum_gradient);
const GradientRegistration sum_rule("Sum", sum_gradient);
const GradientRegistration mean_rule("Mean", mean_gradient);
const GradientRegistration where_rule("Where", where_gradient);

}  // namespace
}  // namespace ort_train::passes
