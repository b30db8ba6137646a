// Operators that compute each element from the elements at the same place, with broadcasting.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

/// Where the samples lie counted from the last axis, as broadcasting aligns arrays; negative when none is divided.
struct Alignment {
  Sharding sharding;
  std::int64_t from_last = -1;
};

Alignment first_alignment(const PartitionContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (!context.input(i).is_sharded()) continue;
    return {context.input(i), static_cast<std::int64_t>(context.input_dims(i).size()) - context.input(i).axis};
  }
  return {};
}

void follow_alignment(PartitionContext& context, const Alignment& alignment) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (!context.has_input(i)) continue;
    const Dims dims = context.input_dims(i);
    const std::int64_t axis = static_cast<std::int64_t>(dims.size()) - alignment.from_last;
    const bool broadcast = axis < 0 || (dims[static_cast<std::size_t>(axis)] == 1 && !context.input(i).is_sharded());
    context.need(i, broadcast ? Sharding::replicated() : alignment.sharding.at_axis(axis));
  }
  const Dims output = context.output_dims();
  const std::int64_t axis = static_cast<std::int64_t>(output.size()) - alignment.from_last;
  const Sharding& from = alignment.sharding;
  if (output.at(static_cast<std::size_t>(axis)) != from.outer * context.samples() * from.inner) {
    context.refuse("it repeats the samples by broadcasting");
  }
  context.give_all(from.at_axis(axis));
}

void elementwise_rule(PartitionContext& context) {
  const Alignment alignment = first_alignment(context);
  if (alignment.from_last < 0) {
    for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) context.need_replicated(i);
    return;
  }
  follow_alignment(context, alignment);
}

/// Sums of sums over the replicas need not be reduced one by one.
void additive_rule(PartitionContext& context) {
  if (all_partial(context)) return context.give_all(Sharding::partial());
  elementwise_rule(context);
}

/// A product of a sum over the replicas with something that all of them have is such a sum again.
void scaling_rule(PartitionContext& context) {
  const bool is_linear = context.node().is("Mul") || is_floating_point(context.node().output()->dtype());
  const bool left = is_linear && context.input(0).is_partial() && context.input(1).is_replicated();
  const bool right = context.input(1).is_partial() && context.input(0).is_replicated() && context.node().is("Mul");
  if (left || right) return context.give_all(Sharding::partial());
  elementwise_rule(context);
}

bool keeps_sums(const graph::Node& node) {
  if (!node.is("Cast")) return true;
  const auto target = static_cast<DataType>(node.integer("to", 0));
  return is_floating_point(node.input(0)->dtype()) && is_floating_point(target) &&
         size_of(target) >= size_of(node.input(0)->dtype());
}

void linear_unary_rule(PartitionContext& context) {
  if (context.input(0).is_partial() && keeps_sums(context.node())) return context.give_all(Sharding::partial());
  elementwise_rule(context);
}

/// Of its second input only the type counts, however that input lies.
void cast_like_rule(PartitionContext& context) {
  if (!context.input(0).is_sharded()) return follow_first_input(context);
  context.give(0, context.input(0));
  context.emit_by([](Emission& emission) -> std::vector<graph::Value*> {
    return {emission.builder.cast(emission.inputs[0], emission.whole.output()->dtype())};
  });
}

const PartitionRegistration elementwise({"Abs",         "Acos",
                                         "Acosh",       "And",
                                         "Asin",        "Asinh",
                                         "Atan",        "Atanh",
                                         "BitShift",    "BitwiseAnd",
                                         "BitwiseNot",  "BitwiseOr",
                                         "BitwiseXor",  "Ceil",
                                         "Celu",        "Clip",
                                         "Cos",         "Cosh",
                                         "Elu",         "Equal",
                                         "Erf",         "Exp",
                                         "Floor",       "Gelu",
                                         "Greater",     "GreaterOrEqual",
                                         "HardSigmoid", "HardSwish",
                                         "IsInf",       "IsNaN",
                                         "LeakyRelu",   "Less",
                                         "LessOrEqual", "Log",
                                         "Max",         "Min",
                                         "Mish",        "Mod",
                                         "Not",         "Or",
                                         "PRelu",       "Pow",
                                         "Reciprocal",  "Relu",
                                         "Round",       "Selu",
                                         "Shrink",      "Sigmoid",
                                         "Sign",        "Sin",
                                         "Sinh",        "Softplus",
                                         "Softsign",    "Sqrt",
                                         "Swish",       "Tan",
                                         "Tanh",        "ThresholdedRelu",
                                         "Where",       "Xor"},
                                        elementwise_rule);
const PartitionRegistration cast_like({"CastLike"}, cast_like_rule);
const PartitionRegistration additive({"Add", "Sub", "Sum", "Mean"}, additive_rule);
const PartitionRegistration scaling({"Mul", "Div"}, scaling_rule);
const PartitionRegistration linear_unary({"Identity", "Neg", "Cast"}, linear_unary_rule);
const PartitionRegistration gradients({"ReluGrad", "SigmoidGrad", "TanhGrad", "DropoutGrad"}, elementwise_rule,
                                      graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
