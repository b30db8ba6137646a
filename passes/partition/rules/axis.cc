// Operators that work along one axis, each line of elements by itself.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

std::int64_t axis_of(const PartitionContext& context, std::int64_t fallback) {
  return from_front(context.node().integer("axis", fallback), static_cast<std::int64_t>(context.input_dims(0).size()));
}

/// All inputs have the extents of the first one.
void along_last_axis_rule(PartitionContext& context) {
  if (!context.any_sharded()) return follow_first_input(context);
  const Sharding sharding = context.input(0).is_sharded() ? context.input(0) : context.input(1);
  refuse_along(context, sharding, {axis_of(context, -1)});
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) context.need(i, sharding);
  context.give_all(sharding);
}

/// The number of best elements, or the axis, is a second input.
void top_k_rule(PartitionContext& context) {
  refuse_along(context, context.input(0), {axis_of(context, -1)});
  follow_first_input(context);
}

void cumulative_rule(PartitionContext& context) {
  if (context.input(0).is_sharded()) {
    const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
    refuse_along(context, context.input(0), {from_front(context.constant_input(1).at(0), rank)});
  }
  follow_first_input(context);
}

void arg_extremum_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  const std::int64_t axis = axis_of(context, 0);
  refuse_along(context, input, {axis});
  follow_first_input(context);
  const bool keeps = context.node().integer("keepdims", 1) != 0;
  if (input.is_sharded() && !keeps && axis < input.axis) context.give(0, input.at_axis(input.axis - 1));
}

void one_hot_rule(PartitionContext& context) {
  follow_first_input(context);
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return;
  const std::int64_t axis =
      from_front(context.node().integer("axis", -1), static_cast<std::int64_t>(context.output_dims().size()));
  context.give(0, input.at_axis(axis <= input.axis ? input.axis + 1 : input.axis));
}

void reverse_sequence_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return follow_first_input(context);
  if (input.axis != context.node().integer("batch_axis", 1))
    context.refuse("the samples do not lie along its batch_axis");
  context.need(1, input.at_axis(0));
  context.give(0, input);
}

const PartitionRegistration along_last_axis({"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"},
                                            along_last_axis_rule);
const PartitionRegistration gradients({"SoftmaxGrad", "LogSoftmaxGrad"}, along_last_axis_rule, graph::training_domain);
const PartitionRegistration top_k({"TopK"}, top_k_rule);
const PartitionRegistration cumulative({"CumSum", "CumProd"}, cumulative_rule);
const PartitionRegistration arg_extremum({"ArgMax", "ArgMin"}, arg_extremum_rule);
const PartitionRegistration one_hot({"OneHot"}, one_hot_rule);
const PartitionRegistration reverse_sequence({"ReverseSequence"}, reverse_sequence_rule);

}  // namespace
}  // namespace ort_train::passes
