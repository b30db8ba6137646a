#include "tests/sharding_support.h"

#include <algorithm>

#include "base/error.h"

namespace ort_train::tests {

using passes::Sharding;

namespace {

/// A sharded array in memory: `blocks` runs of all samples, each sample with `bytes` consecutive bytes.
struct Runs {
  std::int64_t blocks = 1, bytes = 1;
};

Runs runs_of(const Tensor& array, const Sharding& sharding) {
  Runs runs{sharding.outer, sharding.inner * static_cast<std::int64_t>(size_of(array.dtype()))};
  for (std::int64_t axis = 0; axis < array.rank(); ++axis) {
    const std::int64_t extent = array.dims()[static_cast<std::size_t>(axis)];
    if (axis < sharding.axis) runs.blocks *= extent;
    if (axis > sharding.axis) runs.bytes *= extent;
  }
  return runs;
}

}  // namespace

Tensor rows_of(const Tensor& whole, const Sharding& sharding, std::int64_t samples, const Shard& shard) {
  if (!sharding.is_sharded()) return whole;
  Tensor part(whole.dtype(), passes::extents_of_rows(whole.dims(), sharding, shard.rows));
  const Runs runs = runs_of(whole, sharding);
  for (std::int64_t block = 0; block < runs.blocks; ++block) {
    const std::byte* from = whole.raw() + (block * samples + shard.first) * runs.bytes;
    std::copy_n(from, shard.rows * runs.bytes, part.raw() + block * shard.rows * runs.bytes);
  }
  return part;
}

Tensor joined_rows(const std::vector<Tensor>& parts, const Sharding& sharding, std::int64_t samples) {
  if (!sharding.is_sharded()) return parts.front();
  Tensor whole(parts.front().dtype(), passes::extents_of_rows(parts.front().dims(), sharding, samples));
  const Runs runs = runs_of(whole, sharding);
  const auto replicas = static_cast<std::int64_t>(parts.size());
  for (std::int64_t rank = 0; rank < replicas; ++rank) {
    const Tensor& part = parts[static_cast<std::size_t>(rank)];
    const Shard shard = shard_of(samples, replicas, rank);
    const Dims expected = passes::extents_of_rows(whole.dims(), sharding, shard.rows);
    if (part.dims() != expected) {
      fail("replica ", rank, " has an array ", to_string(part.dims()), " where its ", shard.rows, " samples take ",
           to_string(expected));
    }
    for (std::int64_t block = 0; block < runs.blocks; ++block) {
      std::byte* to = whole.raw() + (block * samples + shard.first) * runs.bytes;
      std::copy_n(part.raw() + block * shard.rows * runs.bytes, shard.rows * runs.bytes, to);
    }
  }
  return whole;
}

}  // namespace ort_train::tests
