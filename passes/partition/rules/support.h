#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "passes/partition/partition_rule.h"

namespace ort_train::passes {

/// An axis counted from the front.
inline std::int64_t from_front(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// Refuses the node when samples lie along one of `axes`, along which it mixes elements.
void refuse_along(const PartitionContext& context, const Sharding& sharding, const std::set<std::int64_t>& axes);

/// Every output has the elements of the samples where input 0 has them, and every other input is whole.
void follow_first_input(PartitionContext& context);

/// All inputs are sums over the replicas, or are given whole to a node that is linear in the others.
bool all_partial(const PartitionContext& context);

/// Emits the node with the extents of this shard in the attribute `attribute`.
Emitter with_shape_attribute(const std::string& attribute);

}  // namespace ort_train::passes
