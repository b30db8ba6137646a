// Operators over [samples, channels, space...]: convolutions, pools, resampling.

#include <span>

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

void check_batch_axis(PartitionContext& context, int index) {
  const Sharding input = context.input(index);
  if (input.is_sharded() && input.axis != 0) {
    context.refuse(text("the samples of '", context.node().input(index)->name(), "' lie along axis ", input.axis,
                        ", and not along axis 0"));
  }
}

/// Input 0 has the samples; weights and the like are whole.
void spatial_rule(PartitionContext& context) {
  check_batch_axis(context, 0);
  follow_first_input(context);
}

void spatial_with_shape_rule(PartitionContext& context) {
  spatial_rule(context);
  if (context.input(0).is_sharded()) context.emit_by(with_shape_attribute("input_shape"));
}

/// Every input has the samples along axis 0.
void spatial_gradient_rule(PartitionContext& context) {
  if (!context.any_sharded()) return follow_first_input(context);
  Sharding sharding;
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    check_batch_axis(context, i);
    if (context.input(i).is_sharded()) sharding = context.input(i);
  }
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) context.need(i, sharding);
  context.give_all(sharding);
}

void weight_gradient_rule(PartitionContext& context) {
  spatial_gradient_rule(context);
  if (context.any_sharded()) context.give_all(Sharding::partial());
}

/// Sizes, where they are given, name the extent along the samples too, unless `axes` leaves it out.
std::vector<graph::Value*> emit_resize(Emission& emission, std::vector<std::int64_t> sizes) {
  constexpr std::size_t sizes_input = 3;
  const std::vector<std::int64_t> axes = emission.whole.integers("axes");
  const auto rank = static_cast<std::int64_t>(emission.output_dims.front().size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t axis = axes.empty() ? static_cast<std::int64_t>(i) : from_front(axes[i], rank);
    if (axis == 0) sizes[i] = emission.output_dims.front().front();
  }
  if (!sizes.empty()) emission.inputs[sizes_input] = emission.builder.int64s(sizes);
  return emission.clone();
}

void resize_rule(PartitionContext& context) {
  constexpr int sizes_input = 3;
  spatial_rule(context);
  if (!context.input(0).is_sharded()) return;
  if (context.output_dims().at(0) != context.input_dims(0).at(0)) context.refuse("it resizes along the samples");
  std::vector<std::int64_t> sizes;
  if (context.has_input(sizes_input)) sizes = context.constant_input(sizes_input);
  context.emit_by([sizes](Emission& emission) { return emit_resize(emission, sizes); });
}

/// The places of the maxima are counted over the whole batch.
std::vector<graph::Value*> emit_max_pool(Emission& emission, std::int64_t inner) {
  std::vector<graph::Value*> outputs = emission.clone();
  const Dims dims = emission.inputs[0]->dims();
  const std::int64_t before = emission.shard.first * inner * element_count(std::span(dims).subspan(1));
  if (outputs.size() > 1 && outputs[1] != nullptr) {
    outputs[1] = emission.builder.add(outputs[1], emission.builder.constant(Tensor::scalar(before)));
  }
  return outputs;
}

void max_pool_rule(PartitionContext& context) {
  spatial_rule(context);
  const Sharding input = context.input(0);
  if (context.node().outputs().size() < 2 || context.node().outputs()[1] == nullptr || !input.is_sharded()) return;
  if (input.outer != 1) context.refuse("it counts places over several batches one after the other");
  context.emit_by([input](Emission& emission) { return emit_max_pool(emission, input.inner); });
}

const PartitionRegistration spatial({"Conv", "ConvTranspose", "AveragePool", "LpPool", "GlobalAveragePool",
                                     "GlobalMaxPool", "GlobalLpPool", "LRN", "DepthToSpace", "SpaceToDepth",
                                     "InstanceNormalization", "GroupNormalization", "BatchNormalization"},
                                    spatial_rule);
const PartitionRegistration with_shape({"ConvGradInput", "AveragePoolGrad"}, spatial_with_shape_rule,
                                       graph::training_domain);
const PartitionRegistration gradients({"MaxPoolGrad", "LRNGrad"}, spatial_gradient_rule, graph::training_domain);
const PartitionRegistration weight_gradient({"ConvGradWeight"}, weight_gradient_rule, graph::training_domain);
const PartitionRegistration grid_sample({"GridSample"}, spatial_gradient_rule);
const PartitionRegistration images({"RenderImages"}, spatial_gradient_rule, graph::training_domain);
const PartitionRegistration max_pool({"MaxPool"}, max_pool_rule);
const PartitionRegistration resize({"Resize"}, resize_rule);

}  // namespace
}  // namespace ort_train::passes
