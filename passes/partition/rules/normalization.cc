// Normalizations with their gradients.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

using graph::Value;

/// X [.., samples, ..] is normalized from `axis` on.
void layer_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
  if (input.is_sharded() && input.axis >= from_front(context.node().integer("axis", -1), rank)) {
    refuse_along(context, input, {input.axis});
  }
  follow_first_input(context);
}

/// (dY, X, scale, statistics of each sample...) -> dX, and sums over the samples.
void sample_gradient_rule(PartitionContext& context) {
  constexpr int scale = 2;
  const Sharding sharding = context.input(0).is_sharded() ? context.input(0) : context.input(1);
  if (!sharding.is_sharded()) return context.need_all_replicated();
  // Forward they may have been normalized whole, along the axis that now holds the samples.
  const auto rank = static_cast<std::int64_t>(context.input_dims(1).size());
  const std::int64_t first = context.node().is("LayerNormalizationGrad", graph::training_domain)
                                 ? from_front(context.node().integer("axis", -1), rank)
                                 : 1;
  if (sharding.axis >= first) refuse_along(context, sharding, {sharding.axis});
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    i == scale ? context.need_replicated(i) : context.need(i, sharding);
  }
  context.give_all(Sharding::partial());
  context.give(0, sharding);
}

void check_batch(PartitionContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    const Sharding input = context.input(i);
    if (input.is_sharded() && input != Sharding::along(0, input.outer, input.inner)) {
      context.refuse(text("the samples of '", context.node().input(i)->name(), "' do not lie along axis 0"));
    }
  }
}

/// New running statistics are averaged, each shard's by its share of the samples.
std::vector<Value*> emit_local_statistics(Emission& emission) {
  std::vector<Value*> outputs = emission.clone();
  const double share = static_cast<double>(emission.shard.rows) / static_cast<double>(emission.samples);
  for (std::size_t i = 1; i <= 2 && i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    outputs[i] = emission.builder.mul(outputs[i], emission.builder.scalar_like(share, outputs[i]));
  }
  return outputs;
}

void batch_training_rule(PartitionContext& context) {
  check_batch(context);
  follow_first_input(context);
  if (!context.input(0).is_sharded()) return;
  context.give(1, Sharding::partial());
  context.give(2, Sharding::partial());
  context.give(3, Sharding::local());
  context.give(4, Sharding::local());
  context.emit_by(emit_local_statistics);
}

void batch_gradient_rule(PartitionContext& context) {
  constexpr int scale = 2, batch_mean = 3, batch_variance = 4, activated = 5;
  check_batch(context);
  const Sharding sharding = context.input(1);
  // Statistics that are the same on every replica are those of the whole batch, as its gradient needs them.
  if (!sharding.is_sharded()) return context.need_all_replicated();
  for (const int index : {0, 1, activated}) context.need(index, sharding);
  context.need_replicated(scale);
  for (const int index : {batch_mean, batch_variance}) context.need(index, Sharding::local());
  context.give(0, sharding);
  context.give(1, Sharding::partial());
  context.give(2, Sharding::partial());
}

/// Sums over all samples and positions of a channel: (X) or (X, mean).
void channel_sum_rule(PartitionContext& context) {
  check_batch(context);
  follow_first_input(context);
  if (context.input(0).is_sharded()) context.give(0, Sharding::partial());
}

/// Of (dY, X, ...): where one of both has the samples, the other one is divided alike.
Sharding sharding_of_samples(const PartitionContext& context) {
  return context.input(1).is_sharded() ? context.input(1) : context.input(0);
}

/// (dY, X, batch_mean, batch_var, Y) -> dScale, dB.
void gradient_sums_rule(PartitionContext& context) {
  constexpr int activated = 4;
  check_batch(context);
  const Sharding sharding = sharding_of_samples(context);
  if (!sharding.is_sharded()) return context.need_all_replicated();
  for (const int index : {0, 1, activated}) context.need(index, sharding);
  for (const int index : {2, 3}) context.need_replicated(index);
  context.give_all(Sharding::partial());
}

/// (dY, X, scale, batch_mean, batch_var, dScale, dB, Y) -> dX.
void gradient_input_rule(PartitionContext& context) {
  constexpr int activated = 7;
  check_batch(context);
  const Sharding sharding = sharding_of_samples(context);
  if (!sharding.is_sharded()) return context.need_all_replicated();
  for (const int index : {0, 1, activated}) context.need(index, sharding);
  for (int index = 2; index < activated; ++index) context.need_replicated(index);
  context.give_all(sharding);
}

constexpr std::string_view training = graph::training_domain;

const PartitionRegistration layer({"LayerNormalization", "RMSNormalization"}, layer_rule);
const PartitionRegistration sample_gradients({"LayerNormalizationGrad", "InstanceNormalizationGrad"},
                                             sample_gradient_rule, training);
const PartitionRegistration batch_training({"BatchNormalizationTraining"}, batch_training_rule, training);
const PartitionRegistration batch_gradient({"BatchNormalizationGrad"}, batch_gradient_rule, training);
const PartitionRegistration channel_sums({"ChannelSum", "ChannelSquaredDeviation"}, channel_sum_rule, training);
const PartitionRegistration gradient_sums({"BatchNormalizationGradSums"}, gradient_sums_rule, training);
const PartitionRegistration gradient_input({"BatchNormalizationGradInput"}, gradient_input_rule, training);

}  // namespace
}  // namespace ort_train::passes
