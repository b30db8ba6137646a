// Reductions: over other axes than the samples' each shard by itself, over the samples a sum over the replicas.

#include <set>

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

using graph::Value;

/// The axes that the node reduces.
std::set<std::int64_t> reduced_axes(const PartitionContext& context) {
  const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
  std::set<std::int64_t> axes;
  if (context.has_input(1)) {
    for (const std::int64_t axis : context.constant_input(1)) axes.insert(from_front(axis, rank));
  }
  if (axes.empty() && context.node().integer("noop_with_empty_axes", 0) == 0) {
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.insert(axis);
  }
  return axes;
}

Sharding without(const Sharding& sharding, const std::set<std::int64_t>& axes, bool keeps_axes) {
  if (keeps_axes) return sharding;
  std::int64_t before = 0;
  for (const std::int64_t axis : axes) before += axis < sharding.axis;
  return sharding.at_axis(sharding.axis - before);
}

/// True when the samples stay; what the output is then is decided already.
bool reduces_within_samples(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (!input.is_sharded()) {
    follow_first_input(context);
    return true;
  }
  const std::set<std::int64_t> axes = reduced_axes(context);
  if (axes.count(input.axis) != 0) return false;
  context.give(0, without(input, axes, context.node().integer("keepdims", 1) != 0));
  return true;
}

void sum_rule(PartitionContext& context) {
  if (context.node().is("ReduceSum") && context.input(0).is_partial()) return context.give_all(Sharding::partial());
  if (!reduces_within_samples(context)) context.give(0, Sharding::partial());
}

/// The mean over all samples is the sum over those of the shard by the number of all.
std::vector<Value*> emit_mean(Emission& emission) {
  graph::Builder& builder = emission.builder;
  const double whole = static_cast<double>(element_count(emission.whole.input(0)->dims()));
  const double means = static_cast<double>(element_count(emission.whole.output()->dims()));
  Value* sum = builder.emit("ReduceSum", emission.inputs, emission.whole.attributes());
  return {builder.mul(sum, builder.scalar_like(means / whole, sum))};
}

void mean_rule(PartitionContext& context) {
  if (reduces_within_samples(context)) return;
  if (!is_floating_point(context.node().output()->dtype())) context.refuse("means of integers are rounded");
  context.give(0, Sharding::partial());
  context.emit_by(emit_mean);
}

void other_rule(PartitionContext& context) {
  if (!reduces_within_samples(context)) {
    context.refuse("only sums and means can be taken over the samples of several replicas");
  }
}

void mean_variance_rule(PartitionContext& context) {
  for (const std::int64_t axis : context.node().integers("axes", {0, 2, 3}))
    refuse_along(context, context.input(0), {axis});
  follow_first_input(context);
}

const PartitionRegistration sums({"ReduceSum", "ReduceL1", "ReduceSumSquare"}, sum_rule);
const PartitionRegistration mean({"ReduceMean"}, mean_rule);
const PartitionRegistration others({"ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceLogSum",
                                    "ReduceLogSumExp"},
                                   other_rule);
const PartitionRegistration mean_variance({"MeanVarianceNormalization"}, mean_variance_rule);

}  // namespace
}  // namespace ort_train::passes
