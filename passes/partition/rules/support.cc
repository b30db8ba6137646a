#include "passes/partition/rules/support.h"

#include "base/error.h"

namespace ort_train::passes {

void refuse_along(const PartitionContext& context, const Sharding& sharding, const std::set<std::int64_t>& axes) {
  if (sharding.is_sharded() && axes.count(sharding.axis) != 0) {
    context.refuse(text("it combines elements along axis ", sharding.axis, ", which holds the samples"));
  }
}

void follow_first_input(PartitionContext& context) {
  for (int i = 1; i < static_cast<int>(context.node().inputs().size()); ++i) context.need_replicated(i);
  if (context.input(0).is_partial()) context.need_replicated(0);
  context.give_all(context.input(0).is_partial() ? Sharding::replicated() : context.input(0));
}

bool all_partial(const PartitionContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (context.has_input(i) && !context.input(i).is_partial()) return false;
  }
  return true;
}

Emitter with_shape_attribute(const std::string& attribute) {
  return [attribute](Emission& emission) {
    graph::Attributes attributes = emission.whole.attributes();
    attributes[attribute] = emission.output_dims.front();
    return emission.clone(std::move(attributes));
  };
}

}  // namespace ort_train::passes
