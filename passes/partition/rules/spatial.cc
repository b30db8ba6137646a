// Operators over [samples, channels, space...]: convolutions, pools, resampling.

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

std::vector<graph::Value*> emit_resize(Emission& emission) {
  constexpr std::size_t sizes = 3;
  if (emission.inputs.size() > sizes && emission.inputs[sizes] != nullptr && !emission.whole.has("axes")) {
    emission.inputs[sizes] = emission.builder.int64s(emission.output_dims.front());
  }
  return emission.clone();
}

void resize_rule(PartitionContext& context) {
  spatial_rule(context);
  if (!context.input(0).is_sharded()) return;
  if (context.output_dims().at(0) != context.input_dims(0).at(0)) context.refuse("it resizes along the samples");
  context.emit_by(emit_resize);
}

const PartitionRegistration spatial({"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool",
                                     "GlobalMaxPool", "GlobalLpPool", "LRN", "DepthToSpace", "SpaceToDepth",
                                     "InstanceNormalization", "GroupNormalization", "BatchNormalization"},
                                    spatial_rule);
const PartitionRegistration with_shape({"ConvGradInput", "AveragePoolGrad"}, spatial_with_shape_rule,
                                       graph::training_domain);
const PartitionRegistration gradients({"MaxPoolGrad", "LRNGrad"}, spatial_gradient_rule, graph::training_domain);
const PartitionRegistration weight_gradient({"ConvGradWeight"}, weight_gradient_rule, graph::training_domain);
const PartitionRegistration grid_sample({"GridSample"}, spatial_gradient_rule);
const PartitionRegistration resize({"Resize"}, resize_rule);

}  // namespace
}  // namespace ort_train::passes
