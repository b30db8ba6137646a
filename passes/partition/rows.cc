#include "passes/partition/rows.h"

namespace ort_train::passes {

using graph::Builder;
using graph::Value;

namespace {

/// Where several batches lie one after the other along one axis, they get an axis of their own in front of it.
Value* with_separate_batches(Builder& builder, Value* value, const Sharding& sharding) {
  if (sharding.outer == 1) return value;
  Dims dims = value->dims();
  const auto axis = static_cast<std::size_t>(sharding.axis);
  dims[axis] /= sharding.outer;
  dims.insert(dims.begin() + sharding.axis, sharding.outer);
  return builder.reshape(value, dims);
}

std::int64_t separate_axis(const Sharding& sharding) { return sharding.axis + (sharding.outer == 1 ? 0 : 1); }

Value* with_joint_batches(Builder& builder, Value* value, const Sharding& sharding) {
  if (sharding.outer == 1) return value;
  Dims dims = value->dims();
  dims.erase(dims.begin() + sharding.axis);
  dims[static_cast<std::size_t>(sharding.axis)] *= sharding.outer;
  return builder.reshape(value, dims);
}

}  // namespace

Value* take_rows(Builder& builder, Value* value, const Sharding& sharding, std::int64_t samples, const Shard& rows) {
  if (rows.rows == samples) return value;
  const std::int64_t begin = rows.first * sharding.inner, end = begin + rows.rows * sharding.inner;
  Value* batches = with_separate_batches(builder, value, sharding);
  Value* taken = builder.emit(
      "Slice", {batches, builder.int64s({begin}), builder.int64s({end}), builder.int64s({separate_axis(sharding)})});
  return with_joint_batches(builder, taken, sharding);
}

Value* put_rows(Builder& builder, Value* rows, const Sharding& sharding, std::int64_t samples, const Shard& place) {
  if (place.rows == samples) return rows;
  Value* batches = with_separate_batches(builder, rows, sharding);
  const auto axis = static_cast<std::size_t>(separate_axis(sharding));
  const std::size_t rank = batches->dims().size();
  std::vector<std::int64_t> padding(2 * rank);
  padding[axis] = place.first * sharding.inner;
  padding[rank + axis] = (samples - place.first - place.rows) * sharding.inner;
  return with_joint_batches(builder, builder.emit("Pad", {batches, builder.int64s(padding)}), sharding);
}

Value* join_rows(Builder& builder, const std::vector<Value*>& parts, const Sharding& sharding) {
  if (parts.size() == 1) return parts.front();
  std::vector<Value*> batches;
  batches.reserve(parts.size());
  for (Value* part : parts) batches.push_back(with_separate_batches(builder, part, sharding));
  Value* joined = builder.emit("Concat", batches, {{"axis", separate_axis(sharding)}});
  return with_joint_batches(builder, joined, sharding);
}

}  // namespace ort_train::passes
