// Operators that take or put elements by index.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

std::int64_t rank_of(const PartitionContext& context, int input) {
  return static_cast<std::int64_t>(context.input_dims(input).size());
}

/// Rows of a table that all replicas have, by the indices of each sample; or columns of the samples.
void gather_rule(PartitionContext& context) {
  const std::int64_t axis = from_front(context.node().integer("axis", 0), rank_of(context, 0));
  const Sharding data = context.input(0), indices = context.input(1);
  if (indices.is_sharded()) {
    context.need_replicated(0);
    context.give(0, indices.at_axis(axis + indices.axis));
    return;
  }
  context.need_replicated(1);
  if (data.is_partial()) return context.give_all(Sharding::partial());
  if (!data.is_sharded()) return;
  if (data.axis == axis) context.refuse("it takes some samples of the batch");
  context.give(0, data.at_axis(data.axis < axis ? data.axis : data.axis + rank_of(context, 1) - 1));
}

void gather_gradient_rule(PartitionContext& context) {
  const std::int64_t axis =
      from_front(context.node().integer("axis", 0), static_cast<std::int64_t>(context.output_dims().size()));
  const Sharding gradient = context.input(0), indices = context.input(1);
  if (indices.is_sharded()) {
    context.need(0, indices.at_axis(axis + indices.axis));
    context.give(0, Sharding::partial());
    return;
  }
  context.need_replicated(1);
  if (gradient.is_partial()) return context.give_all(Sharding::partial());
  if (!gradient.is_sharded()) return;
  const std::int64_t indices_axis = gradient.axis - axis;
  if (indices_axis >= 0 && indices_axis < rank_of(context, 1)) {
    // All replicas have the indices, and the gradient lies along them: each adds up its own rows.
    context.need(1, gradient.at_axis(indices_axis));
    return context.give(0, Sharding::partial());
  }
  const std::int64_t added = rank_of(context, 1) - 1;
  context.give(0, gradient.at_axis(gradient.axis < axis ? gradient.axis : gradient.axis - added));
  context.emit_by(with_shape_attribute("input_shape"));
}

/// Data, indices and updates all have the samples along the same axis.
void elements_rule(PartitionContext& context) {
  if (!context.any_sharded()) return follow_first_input(context);
  Sharding sharding;
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (context.input(i).is_sharded()) sharding = context.input(i);
  }
  refuse_along(context, sharding, {from_front(context.node().integer("axis", 0), rank_of(context, 0))});
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) context.need(i, sharding);
  context.give(0, sharding);
}

const PartitionRegistration gather({"Gather"}, gather_rule);
const PartitionRegistration gather_gradient({"GatherGrad"}, gather_gradient_rule, graph::training_domain);
const PartitionRegistration elements({"GatherElements", "ScatterElements"}, elements_rule);

}  // namespace
}  // namespace ort_train::passes
