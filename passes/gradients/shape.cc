// Gradients of operators that move elements without changing them, and of the identity.

#include <algorithm>
#include <numeric>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

void identity_gradient(GradientContext& context) { context.set(0, context.output_gradient()); }

void cast_gradient(GradientContext& context) {
  context.set(0, context.builder().cast(context.output_gradient(), context.input(0)->dtype()));
}

/// Reshape, Flatten, Squeeze, Unsqueeze: the elements stay in order.
void reshape_gradient(GradientContext& context) {
  context.set(0, context.builder().reshape(context.output_gradient(), context.input(0)->dims()));
}

void transpose_gradient(GradientContext& context) {
  const std::int64_t rank = context.input(0)->rank();
  std::vector<std::int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::vector<std::int64_t> permutation = context.node().integers("perm", reversed);
  std::vector<std::int64_t> inverse(rank);
  for (std::int64_t axis = 0; axis < rank; ++axis) inverse[permutation[axis]] = axis;
  context.set(0, context.builder().transpose(context.output_gradient(), inverse));
}

void expand_gradient(GradientContext& context) {
  context.set(0, sum_to_shape_of(context.builder(), context.output_gradient(), context.input(0)));
}

/// Splits every axis of the result into copies and extent, and sums over the copies.
void tile_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const Dims dims = context.input(0)->dims();
  const std::vector<std::int64_t> repeats = constant_integers(context.node(), 1, "repeats");
  Dims split_dims;
  std::vector<std::int64_t> copy_axes;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (repeats[axis] != 1) {
      copy_axes.push_back(static_cast<std::int64_t>(split_dims.size()));
      split_dims.push_back(repeats[axis]);
    }
    split_dims.push_back(dims[axis]);
  }
  if (copy_axes.empty()) {
    context.set(0, context.output_gradient());
    return;
  }
  context.set(0, builder.reduce_sum(builder.reshape(context.output_gradient(), split_dims), copy_axes, false));
}

void concat_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  Value* gradient = context.output_gradient();
  const int parts = static_cast<int>(node.inputs().size());
  if (parts == 1) {
    context.set(0, gradient);
    return;
  }
  const std::int64_t axis = normalized_axis(node, node.integer("axis", 0), gradient->rank());
  std::vector<std::int64_t> extents;
  for (const Value* input : node.inputs()) extents.push_back(input->dims()[axis]);
  const auto gradients = context.builder().emit_many("Split", {gradient, context.builder().int64s(extents)}, parts,
                                                     Attributes{{"axis", axis}});
  for (int i = 0; i < parts; ++i) context.set(i, gradients[i]);
}

void split_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  std::vector<Value*> parts;
  for (int i = 0; i < static_cast<int>(node.outputs().size()); ++i) {
    if (node.output(i) == nullptr) {
      fail(describe(node), ": its gradient needs all outputs, but output ", i, " is left out");
    }
    Value* gradient = context.output_gradient(i);
    parts.push_back(gradient ? gradient : builder.filled_like(0, node.output(i)));
  }
  context.set(0, builder.emit("Concat", parts, {{"axis", node.integer("axis", 0)}}));
}

/// The first position of a slice along an axis; negative ones count from the end, and all are clamped to the axis.
std::int64_t first_position(std::int64_t start, std::int64_t extent, std::int64_t step) {
  const std::int64_t position = start < 0 ? start + extent : start;
  const std::int64_t highest = std::max<std::int64_t>(step > 0 ? extent : extent - 1, 0);
  return std::clamp<std::int64_t>(position, 0, highest);
}

void slice_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  const Dims dims = context.input(0)->dims();
  const Dims result_dims = context.output()->dims();
  std::vector<std::int64_t> starts = constant_integers(node, 1, "starts");
  std::vector<std::int64_t> axes = constant_integers(node, 3, "axes");
  std::vector<std::int64_t> steps = constant_integers(node, 4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i] = normalized_axis(node, axes[i], static_cast<std::int64_t>(dims.size()));
    starts[i] = first_position(starts[i], dims[axes[i]], steps[i]);
    // One step past the last element taken, but not more than one element past either end of the axis.
    const std::int64_t end = starts[i] + steps[i] * result_dims[axes[i]];
    ends.push_back(std::clamp<std::int64_t>(end, -1, dims[axes[i]]));
  }
  context.set(0, context.builder().emit_training("SliceGrad", {context.output_gradient()},
                                                 {{"input_shape", std::vector<std::int64_t>(dims)},
                                                  {"starts", starts},
                                                  {"ends", ends},
                                                  {"axes", axes},
                                                  {"steps", steps}}));
}

/// The pads of all axes, from those of the listed axes.
std::vector<std::int64_t> pads_of_all_axes(const graph::Node& node, std::int64_t rank) {
  std::vector<std::int64_t> listed = constant_integers(node, 1, "pads");
  if (node.input(3) == nullptr) return listed;
  const std::vector<std::int64_t> axes = constant_integers(node, 3, "axes");
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = normalized_axis(node, axes[i], rank);
    pads[axis] = listed[i];
    pads[rank + axis] = listed[axes.size() + i];
  }
  return pads;
}

void pad_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const graph::Node& node = context.node();
  const std::string mode = node.string("mode", "constant");
  const Dims dims = context.input(0)->dims();
  Value* gradient = context.output_gradient();
  Value* of_data = builder.emit_training("PadGrad", {gradient},
                                         {{"mode", mode},
                                          {"pads", pads_of_all_axes(node, context.input(0)->rank())},
                                          {"input_shape", std::vector<std::int64_t>(dims)}});
  context.set(0, of_data);
  if (!context.needs(2)) return;
  if (mode != "constant") {
    context.set(2, builder.filled_like(0, context.input(2)));
    return;
  }
  // What does not reach the data reaches the constant.
  Value* of_constant = builder.sub(sum_of_all(builder, gradient), sum_of_all(builder, of_data));
  context.set(2, builder.reshape(of_constant, context.input(2)->dims()));
}

/// Each of the two operators undoes the other in the same mode.
void set_rearranged(GradientContext& context, const std::string& inverse) {
  context.set(0, context.builder().emit(inverse, {context.output_gradient()},
                                        {{"blocksize", context.node().integer("blocksize", 0)},
                                         {"mode", context.node().string("mode", "DCR")}}));
}
void depth_to_space_gradient(GradientContext& context) { set_rearranged(context, "SpaceToDepth"); }
void space_to_depth_gradient(GradientContext& context) { set_rearranged(context, "DepthToSpace"); }

/// The same triangle of the gradient.
void triangle_gradient(GradientContext& context) {
  std::vector<Value*> inputs = {context.output_gradient()};
  if (context.input(1) != nullptr) inputs.push_back(context.input(1));
  context.set(0, context.builder().emit("Trilu", inputs, {{"upper", context.node().integer("upper", 1)}}));
}

const GradientRegistration identity_rule("Identity", identity_gradient);
const GradientRegistration cast_rule("Cast", cast_gradient);
const GradientRegistration cast_like_rule("CastLike", cast_gradient);
const GradientRegistration reshape_rule("Reshape", reshape_gradient);
const GradientRegistration flatten_rule("Flatten", reshape_gradient);
const GradientRegistration squeeze_rule("Squeeze", reshape_gradient);
const GradientRegistration unsqueeze_rule("Unsqueeze", reshape_gradient);
const GradientRegistration transpose_rule("Transpose", transpose_gradient);
const GradientRegistration expand_rule("Expand", expand_gradient);
const GradientRegistration tile_rule("Tile", tile_gradient);
const GradientRegistration concat_rule("Concat", concat_gradient);
const GradientRegistration split_rule("Split", split_gradient);
const GradientRegistration slice_rule("Slice", slice_gradient);
const GradientRegistration pad_rule("Pad", pad_gradient);
const GradientRegistration depth_to_space_rule("DepthToSpace", depth_to_space_gradient);
const GradientRegistration space_to_depth_rule("SpaceToDepth", space_to_depth_gradient);
const GradientRegistration triangle_rule("Trilu", triangle_gradient);

}  // namespace
}  // namespace ort_train::passes
