// Random numbers belong to places in the whole batch, so that a shard draws what the whole batch would draw there.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

using graph::Value;

/// The place of the shard's first index along the axis of the samples: (first_sample + offset) * inner. Where nobody
/// feeds the first sample of the replica, as in evaluation, it is known here.
Value* first_index(Emission& emission, Value* first_sample, std::int64_t inner) {
  graph::Builder& builder = emission.builder;
  const bool fed = !first_sample->is_constant();
  const std::int64_t offset = emission.shard.first - (fed ? emission.first_of_replica : 0);
  if (offset != 0) first_sample = builder.add(first_sample, builder.constant(Tensor::scalar(offset)));
  return inner == 1 ? first_sample : builder.mul(first_sample, builder.constant(Tensor::scalar(inner)));
}

/// (X, step, first_sample).
void random_rule(PartitionContext& context) {
  follow_first_input(context);
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return;
  if (input.outer != 1) context.refuse("several batches lie one after the other along its axis");
  const std::int64_t extent = context.input_dims(0).at(static_cast<std::size_t>(input.axis));
  context.emit_by([input, extent](Emission& emission) {
    graph::Attributes attributes = emission.whole.attributes();
    if (input.axis > 0) {
      attributes["split_axis"] = input.axis;
      attributes["split_extent"] = extent;
    }
    emission.inputs[2] = first_index(emission, emission.inputs[2], input.inner);
    return emission.clone(std::move(attributes));
  });
}

const PartitionRegistration random({"TrainingDropout", "RandomValues"}, random_rule, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
