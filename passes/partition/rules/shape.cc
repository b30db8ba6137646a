// Operators that move elements without computing anything.

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

using graph::Value;

std::vector<Value*> emit_reshape(Emission& emission) {
  return {emission.builder.reshape(emission.inputs.front(), emission.output_dims.front())};
}

/// Reshape, Flatten, Squeeze and Unsqueeze are one: other extents over the same elements in the same order.
void reshape_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (input.is_partial()) return context.give_all(Sharding::partial());
  if (!input.is_sharded()) return follow_first_input(context);
  const std::optional<Sharding> output =
      reshaped(input, context.input_dims(0), context.output_dims(), context.samples());
  if (!output) {
    context.refuse(text("its result ", to_string(context.output_dims()), " mixes the axis of the samples with others"));
  }
  context.give(0, *output);
  context.emit_by(emit_reshape);
}

void transpose_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (input.is_partial()) return context.give_all(Sharding::partial());
  if (!input.is_sharded()) return follow_first_input(context);
  std::vector<std::int64_t> permutation = context.node().integers("perm");
  const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
  if (permutation.empty()) {
    for (std::int64_t axis = rank - 1; axis >= 0; --axis) permutation.push_back(axis);
  }
  const auto place = std::find(permutation.begin(), permutation.end(), input.axis);
  context.give(0, input.at_axis(place - permutation.begin()));
}

std::vector<Value*> emit_expand(Emission& emission) {
  return {emission.builder.expand(emission.inputs.front(), emission.output_dims.front())};
}

void expand_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return follow_first_input(context);
  const Dims from = context.input_dims(0), to = context.output_dims();
  const std::int64_t axis = input.axis + static_cast<std::int64_t>(to.size() - from.size());
  if (to.at(static_cast<std::size_t>(axis)) != from.at(static_cast<std::size_t>(input.axis))) {
    context.refuse("it repeats the samples");
  }
  context.give(0, input.at_axis(axis));
  context.emit_by(emit_expand);
}

void tile_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return follow_first_input(context);
  Sharding output = input;
  output.outer *= context.constant_input(1).at(static_cast<std::size_t>(input.axis));
  context.give(0, output);
}

std::optional<Sharding> first_sharding(const PartitionContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (context.input(i).is_sharded()) return context.input(i);
  }
  return std::nullopt;
}

void concat_rule(PartitionContext& context) {
  if (all_partial(context)) return context.give_all(Sharding::partial());
  const int inputs = static_cast<int>(context.node().inputs().size());
  const std::optional<Sharding> sharding = first_sharding(context);
  if (!sharding) {
    for (int i = 0; i < inputs; ++i) context.need_replicated(i);
    return;
  }
  const std::int64_t axis =
      from_front(context.node().integer("axis", 0), static_cast<std::int64_t>(context.output_dims().size()));
  Sharding output = *sharding;
  if (axis != sharding->axis) {
    for (int i = 0; i < inputs; ++i) context.need(i, *sharding);
  } else {
    // Batches one after the other along the same axis, as two views of the same samples are.
    output.outer = 0;
    for (int i = 0; i < inputs; ++i) {
      const Sharding each = context.input(i);
      if (!each.is_sharded() || each.axis != axis || each.inner != output.inner) {
        context.refuse(text("it appends '", context.node().input(i)->name(), "' to the samples"));
      }
      output.outer += each.outer;
    }
  }
  context.give(0, output);
}

std::vector<Value*> emit_split(Emission& emission, std::int64_t axis) {
  std::vector<std::int64_t> sizes;
  for (const Dims& dims : emission.output_dims) sizes.push_back(dims.at(static_cast<std::size_t>(axis)));
  emission.inputs.resize(2);
  emission.inputs[1] = emission.builder.int64s(sizes);
  graph::Attributes attributes = emission.whole.attributes();
  attributes.erase("num_outputs");
  return emission.clone(std::move(attributes));
}

void split_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (input.is_partial()) return context.give_all(Sharding::partial());
  if (!input.is_sharded()) return follow_first_input(context);
  const std::int64_t axis =
      from_front(context.node().integer("axis", 0), static_cast<std::int64_t>(context.input_dims(0).size()));
  if (axis != input.axis) return context.give_all(input);
  for (int i = 0; i < static_cast<int>(context.node().outputs().size()); ++i) {
    const std::int64_t extent = context.output_dims(i).at(static_cast<std::size_t>(axis));
    const std::int64_t block = context.samples() * input.inner;
    if (block == 0 || extent % block != 0) context.refuse("it separates samples of the batch from each other");
    context.give(i, Sharding::along(axis, extent / block, input.inner));
  }
  context.emit_by([axis](Emission& emission) { return emit_split(emission, axis); });
}

/// A slice that takes an axis whole takes it whole for every number of samples.
void slice_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (input.is_partial()) return context.give_all(Sharding::partial());
  if (!input.is_sharded()) return follow_first_input(context);
  const auto place = static_cast<std::size_t>(input.axis);
  if (context.output_dims().at(place) != context.input_dims(0).at(place)) {
    context.refuse("it takes some samples of the batch");
  }
  const std::vector<std::int64_t> starts = context.constant_input(1);
  std::vector<std::int64_t> axes;
  if (context.has_input(3)) axes = context.constant_input(3);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = axes.empty()
                                  ? static_cast<std::int64_t>(i)
                                  : from_front(axes[i], static_cast<std::int64_t>(context.input_dims(0).size()));
    const bool reversed = axis == input.axis && context.has_input(4) && context.constant_input(4).at(i) < 0;
    if (reversed) context.refuse("it reverses the samples");
  }
  context.give(0, input);
}

std::vector<Value*> emit_slice_gradient(Emission& emission, std::int64_t sample_axis) {
  graph::Attributes attributes = emission.whole.attributes();
  const Dims& dims = emission.output_dims.front();
  attributes["input_shape"] = dims;
  std::vector<std::int64_t> ends = emission.whole.integers("ends");
  const std::vector<std::int64_t> axes = emission.whole.integers("axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == sample_axis) ends[i] = dims.at(static_cast<std::size_t>(sample_axis));
  }
  attributes["ends"] = ends;
  return emission.clone(std::move(attributes));
}

/// The slice takes some of the samples, or takes them in another order.
bool puts_into_samples(const PartitionContext& context, std::int64_t sample_axis) {
  const auto place = static_cast<std::size_t>(sample_axis);
  if (context.input_dims(0).at(place) != context.output_dims().at(place)) return true;
  const std::vector<std::int64_t> axes = context.node().integers("axes"), steps = context.node().integers("steps");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == sample_axis && steps.at(i) < 0) return true;
  }
  return false;
}

void slice_gradient_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (input.is_partial()) return context.give_all(Sharding::partial());
  if (!input.is_sharded()) return follow_first_input(context);
  if (puts_into_samples(context, input.axis)) context.refuse("it puts samples at places in the batch");
  context.give(0, input);
  const std::int64_t axis = input.axis;
  context.emit_by([axis](Emission& emission) { return emit_slice_gradient(emission, axis); });
}

void check_padding(const PartitionContext& context, const std::vector<std::int64_t>& padding,
                   std::vector<std::int64_t> axes) {
  const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
  if (axes.empty()) {
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (from_front(axes[i], rank) != context.input(0).axis) continue;
    if (padding.at(i) != 0 || padding.at(i + axes.size()) != 0) context.refuse("it adds rows to the batch");
  }
}

void pad_rule(PartitionContext& context) {
  if (!context.input(0).is_sharded()) return follow_first_input(context);
  check_padding(context, context.constant_input(1),
                context.has_input(3) ? context.constant_input(3) : std::vector<std::int64_t>{});
  follow_first_input(context);
}

void pad_gradient_rule(PartitionContext& context) {
  if (!context.input(0).is_sharded()) return follow_first_input(context);
  check_padding(context, context.node().integers("pads"), {});
  follow_first_input(context);
  context.emit_by(with_shape_attribute("input_shape"));
}

void trilu_rule(PartitionContext& context) {
  const auto rank = static_cast<std::int64_t>(context.input_dims(0).size());
  refuse_along(context, context.input(0), {rank - 1, rank - 2});
  follow_first_input(context);
}

/// Ones along a diagonal, which begins elsewhere in a shard.
void eye_like_rule(PartitionContext& context) {
  const Sharding input = context.input(0);
  if (!input.is_sharded()) return follow_first_input(context);
  if (input.outer != 1) context.refuse("several batches lie one after the other along its axis");
  context.give(0, input);
  context.emit_by([input](Emission& emission) {
    const std::int64_t before = emission.shard.first * input.inner;
    graph::Attributes attributes = emission.whole.attributes();
    attributes["k"] = emission.whole.integer("k", 0) + (input.axis == 0 ? before : -before);
    return emission.clone(std::move(attributes));
  });
}

const PartitionRegistration reshape({"Reshape", "Flatten", "Squeeze", "Unsqueeze"}, reshape_rule);
const PartitionRegistration transpose({"Transpose"}, transpose_rule);
const PartitionRegistration expand({"Expand"}, expand_rule);
const PartitionRegistration tile({"Tile"}, tile_rule);
const PartitionRegistration concat({"Concat"}, concat_rule);
const PartitionRegistration split({"Split"}, split_rule);
const PartitionRegistration slice({"Slice"}, slice_rule);
const PartitionRegistration slice_gradient({"SliceGrad"}, slice_gradient_rule, graph::training_domain);
const PartitionRegistration pad({"Pad"}, pad_rule);
const PartitionRegistration pad_gradient({"PadGrad"}, pad_gradient_rule, graph::training_domain);
const PartitionRegistration eye_like({"EyeLike"}, eye_like_rule);
const PartitionRegistration trilu({"Trilu"}, trilu_rule);

}  // namespace
}  // namespace ort_train::passes
