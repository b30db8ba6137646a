#pragma once

#include <cstdint>
#include <vector>

#include "base/shard.h"
#include "base/tensor.h"
#include "passes/partition/sharding.h"

namespace ort_train::tests {

/// The elements of some of the `samples` samples that `whole` holds. What is not sharded is given back as it is.
Tensor rows_of(const Tensor& whole, const passes::Sharding& sharding, std::int64_t samples, const Shard& shard);

/// The inverse: the array of all samples from those of consecutive shards, `parts[r]` being of
/// shard_of(samples, parts.size(), r). What is not sharded is that of the first part.
Tensor joined_rows(const std::vector<Tensor>& parts, const passes::Sharding& sharding, std::int64_t samples);

}  // namespace ort_train::tests
