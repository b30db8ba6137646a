#include "passes/partition/sharding.h"

#include <span>

#include "base/error.h"

namespace ort_train::passes {

namespace {

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
  return element_count(std::span(dims).subspan(begin, end - begin));
}

}  // namespace

std::string describe(const Sharding& sharding) {
  switch (sharding.kind) {
    case Sharding::Kind::replicated: return "the same on every replica";
    case Sharding::Kind::partial: return "a sum over the replicas";
    case Sharding::Kind::local: return "of one replica";
    case Sharding::Kind::open: return "a label";
    case Sharding::Kind::sharded: break;
  }
  return text("divided along axis ", sharding.axis);
}

Dims extents_of_rows(const Dims& whole, const Sharding& sharding, std::int64_t rows) {
  Dims extents = whole;
  if (sharding.is_sharded())
    extents.at(static_cast<std::size_t>(sharding.axis)) = sharding.outer * rows * sharding.inner;
  return extents;
}

bool holds_samples(const Dims& dims, const Sharding& sharding, std::int64_t samples) {
  return sharding.axis >= 0 && sharding.axis < static_cast<std::int64_t>(dims.size()) &&
         dims[static_cast<std::size_t>(sharding.axis)] == sharding.outer * samples * sharding.inner;
}

std::optional<Sharding> along_first_axis(const Dims& dims, std::int64_t samples) {
  if (dims.empty() || dims[0] % samples != 0) return std::nullopt;
  return Sharding::along(0, 1, dims[0] / samples);
}

bool has_sum_over_replicas(DataType type) {
  return is_floating_point(type) || type == DataType::int32 || type == DataType::int64;
}

DataType type_of_sum(DataType type) {
  if (has_sum_over_replicas(type)) return type;
  // Bits are kept: a cast to the signed type and back gives the same unsigned number.
  return type == DataType::boolean || size_of(type) < size_of(DataType::int32) ? DataType::int32 : DataType::int64;
}

std::optional<Sharding> reshaped(const Sharding& sharding, const Dims& from, const Dims& to, std::int64_t samples) {
  const auto axis = static_cast<std::size_t>(sharding.axis);
  // Elements come in blocks_before runs of samples * elements_after.
  const std::int64_t blocks_before = product(from, 0, axis) * sharding.outer;
  const std::int64_t elements_after = sharding.inner * product(from, axis + 1, from.size());
  for (std::size_t candidate = 0; candidate < to.size(); ++candidate) {
    const std::int64_t before = product(to, 0, candidate), after = product(to, candidate + 1, to.size());
    if (before == 0 || after == 0 || blocks_before % before != 0 || elements_after % after != 0) continue;
    const std::int64_t outer = blocks_before / before, inner = elements_after / after;
    if (to[candidate] == outer * samples * inner)
      return Sharding::along(static_cast<std::int64_t>(candidate), outer, inner);
  }
  return std::nullopt;
}

}  // namespace ort_train::passes
