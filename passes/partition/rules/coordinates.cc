// Operators that take or put blocks of elements by tuples of coordinates. Where a coordinate counts along the samples,
// a shard keeps the tuples that point at its own samples, which must be known beforehand.

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "graph/constant_elements.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

using graph::Value;

/// Indices [..., length], known before the batch is divided.
struct Tuples {
  Dims dims;  ///< without the last axis
  std::int64_t length = 0;
  std::vector<std::int64_t> coordinates;

  std::int64_t count() const { return element_count(dims); }
  std::int64_t coordinate(std::int64_t tuple, std::int64_t axis) const {
    return coordinates[static_cast<std::size_t>(tuple * length + axis)];
  }
};

Tuples constant_tuples(const PartitionContext& context) {
  Tuples tuples{context.input_dims(1), 0, context.constant_input(1)};
  tuples.length = tuples.dims.back();
  tuples.dims.pop_back();
  return tuples;
}

/// The axis of the indices along which the coordinate `axis` counts 0, 1, 2, ...: there the tuples lie as the samples
/// do.
std::optional<std::int64_t> axis_counted_along(const Tuples& tuples, std::int64_t axis, std::int64_t extent) {
  const Dims strides = row_major_strides(tuples.dims);
  for (std::size_t candidate = 0; candidate < tuples.dims.size(); ++candidate) {
    if (tuples.dims[candidate] != extent) continue;
    bool counts = true;
    for (std::int64_t tuple = 0; counts && tuple < tuples.count(); ++tuple) {
      counts = from_front(tuples.coordinate(tuple, axis), extent) == tuple / strides[candidate] % extent;
    }
    if (counts) return static_cast<std::int64_t>(candidate);
  }
  return std::nullopt;
}

/// Those tuples that point at samples of one shard.
struct ShardTuples {
  std::vector<std::int64_t> places;       ///< among all tuples
  std::vector<std::int64_t> coordinates;  ///< counted within the shard
};

ShardTuples tuples_of_shard(const Tuples& tuples, const Sharding& data, const Emission& emission) {
  const std::int64_t block = emission.samples * data.inner;
  const Shard& shard = emission.shard;
  ShardTuples result;
  for (std::int64_t tuple = 0; tuple < tuples.count(); ++tuple) {
    const std::int64_t place = from_front(tuples.coordinate(tuple, data.axis), data.outer * block);
    const std::int64_t row = place % block / data.inner - shard.first;
    if (row < 0 || row >= shard.rows) continue;
    result.places.push_back(tuple);
    for (std::int64_t axis = 0; axis < tuples.length; ++axis) {
      result.coordinates.push_back(tuples.coordinate(tuple, axis));
    }
    result.coordinates[result.coordinates.size() - static_cast<std::size_t>(tuples.length - data.axis)] =
        (place / block * shard.rows + row) * data.inner + place % data.inner;
  }
  return result;
}

Value* constant_indices(Emission& emission, Dims dims, std::int64_t length, const std::vector<std::int64_t>& indices) {
  dims.push_back(length);
  return emission.builder.constant(Tensor::of(dims, indices));
}

/// The samples lie along an axis of the indices as they lie in the data: the node itself, with the shard's tuples.
Emitter with_tuples_of_shard(const Tuples& tuples, const Sharding& data, std::int64_t along) {
  return [tuples, data, along](Emission& emission) {
    const Dims dims = extents_of_rows(tuples.dims, data.at_axis(along), emission.shard.rows);
    emission.inputs[1] =
        constant_indices(emission, dims, tuples.length, tuples_of_shard(tuples, data, emission).coordinates);
    return emission.clone();
  };
}

/// [tuples, block...]
Dims as_list(const Tuples& tuples, const Dims& dims) {
  Dims list(dims.begin() + static_cast<std::ptrdiff_t>(tuples.dims.size()), dims.end());
  list.insert(list.begin(), tuples.count());
  return list;
}

/// Updates that every replica has: those at the shard's tuples are put.
Emitter scatter_into_shard(const Tuples& tuples, const Sharding& data) {
  return [tuples, data](Emission& emission) -> std::vector<Value*> {
    graph::Builder& builder = emission.builder;
    const ShardTuples own = tuples_of_shard(tuples, data, emission);
    const auto count = static_cast<std::int64_t>(own.places.size());
    if (count == 0) return {builder.emit("Identity", {emission.inputs[0]})};
    Value* updates = builder.reshape(emission.inputs[2], as_list(tuples, emission.inputs[2]->dims()));
    emission.inputs[2] = builder.emit("Gather", {updates, builder.int64s(own.places)}, {{"axis", std::int64_t{0}}});
    emission.inputs[1] = constant_indices(emission, {count}, tuples.length, own.coordinates);
    return emission.clone();
  };
}

/// Any samples in any order: each shard gives what lies in it, with zeros elsewhere.
Emitter gather_from_shard(const Tuples& tuples, const Sharding& data) {
  return [tuples, data](Emission& emission) -> std::vector<Value*> {
    graph::Builder& builder = emission.builder;
    const Dims& dims = emission.output_dims.front();
    const ShardTuples own = tuples_of_shard(tuples, data, emission);
    const auto count = static_cast<std::int64_t>(own.places.size());
    const Tensor zeros(emission.inputs[0]->dtype(), as_list(tuples, dims));
    if (count == 0) return {builder.constant(zeros.reshaped(dims))};
    Value* indices = constant_indices(emission, {count}, tuples.length, own.coordinates);
    Value* taken = builder.emit("GatherND", {emission.inputs[0], indices});
    Value* places = constant_indices(emission, {count}, 1, own.places);
    return {builder.reshape(builder.emit("ScatterND", {builder.constant(zeros), places, taken}), dims)};
  };
}

void gather_by_samples(PartitionContext& context, const Sharding& indices, std::int64_t batch_axes) {
  if (indices.axis == static_cast<std::int64_t>(context.input_dims(1).size()) - 1) {
    context.refuse("the samples lie along the axis of the coordinates");
  }
  context.need(0, indices.axis < batch_axes ? indices : Sharding::replicated());
  context.give(0, indices);
}

void gather_nd_rule(PartitionContext& context) {
  const Sharding data = context.input(0), indices = context.input(1);
  const std::int64_t batch_axes = context.node().integer("batch_dims", 0);
  if (indices.is_sharded()) return gather_by_samples(context, indices, batch_axes);
  if (!data.is_sharded()) return follow_first_input(context);
  const std::int64_t tuple_axes = static_cast<std::int64_t>(context.input_dims(1).size()) - 1;
  const std::int64_t block_axis = data.axis - batch_axes - context.input_dims(1).back();
  if (data.axis < batch_axes) {
    context.need(1, data);
    return context.give(0, data);
  }
  context.need_replicated(1);
  if (block_axis >= 0) return context.give(0, data.at_axis(tuple_axes + block_axis));
  if (batch_axes != 0) context.refuse("it takes some samples of the batch");
  const Tuples tuples = constant_tuples(context);
  const std::int64_t extent = context.input_dims(0).at(static_cast<std::size_t>(data.axis));
  if (const auto along = axis_counted_along(tuples, data.axis, extent)) {
    context.give(0, data.at_axis(*along));
    return context.emit_by(with_tuples_of_shard(tuples, data, *along));
  }
  context.give(0, Sharding::partial());
  context.emit_by(gather_from_shard(tuples, data));
}

bool is_zero(const Value* value) {
  if (const Tensor* elements = graph::constant_elements(value)) {
    const std::vector<double> numbers = elements->to_doubles();
    return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
  }
  return value->producer() != nullptr && value->producer()->is("Expand") && is_zero(value->producer()->input(0));
}

/// Each sample has tuples of its own, which point anywhere: the sum over the samples, as the gradient of a table is.
void scatter_by_samples(PartitionContext& context, const Sharding& tuples) {
  if (tuples.axis == static_cast<std::int64_t>(context.input_dims(1).size()) - 1) {
    context.refuse("the samples lie along the axis of the coordinates");
  }
  if (context.node().string("reduction", "none") != "add" || !is_zero(context.node().input(0))) {
    context.refuse("the samples put elements into one array");
  }
  context.need_replicated(0);
  context.need(1, tuples);
  context.need(2, tuples);
  context.give(0, Sharding::partial());
}

/// How the data lies, or would have to lie beside updates that are sharded; nothing when the samples are only among
/// the tuples.
std::optional<Sharding> sharding_of_data(const PartitionContext& context) {
  const Sharding data = context.input(0), updates = context.input(2);
  if (data.is_sharded()) return data;
  const std::int64_t tuple_axes = static_cast<std::int64_t>(context.input_dims(1).size()) - 1;
  const std::int64_t length = context.input_dims(1).back();
  if (updates.axis >= tuple_axes) return updates.at_axis(updates.axis - tuple_axes + length);
  if (!context.node().input(1)->is_constant()) return std::nullopt;
  const Tuples tuples = constant_tuples(context);
  for (std::int64_t axis = 0; axis < length; ++axis) {
    const std::int64_t extent = context.input_dims(0).at(static_cast<std::size_t>(axis));
    if (axis_counted_along(tuples, axis, extent) == updates.axis) return updates.at_axis(axis);
  }
  return std::nullopt;
}

void scatter_nd_rule(PartitionContext& context) {
  if (!context.any_sharded()) return follow_first_input(context);
  if (context.input(1).is_sharded()) return scatter_by_samples(context, context.input(1));
  const std::optional<Sharding> data = sharding_of_data(context);
  if (!data) return scatter_by_samples(context, context.input(2));
  context.need(0, *data);
  context.need_replicated(1);
  context.give(0, *data);
  const std::int64_t tuple_axes = static_cast<std::int64_t>(context.input_dims(1).size()) - 1;
  const std::int64_t block_axis = data->axis - context.input_dims(1).back();
  if (block_axis >= 0) return context.need(2, data->at_axis(tuple_axes + block_axis));
  const Tuples tuples = constant_tuples(context);
  const std::int64_t extent = context.input_dims(0).at(static_cast<std::size_t>(data->axis));
  if (const auto along = axis_counted_along(tuples, data->axis, extent)) {
    context.need(2, data->at_axis(*along));
    return context.emit_by(with_tuples_of_shard(tuples, *data, *along));
  }
  context.need_replicated(2);
  context.emit_by(scatter_into_shard(tuples, *data));
}

const PartitionRegistration gather_nd({"GatherND"}, gather_nd_rule);
const PartitionRegistration scatter_nd({"ScatterND"}, scatter_nd_rule);

}  // namespace
}  // namespace ort_train::passes
