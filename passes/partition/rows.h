#pragma once

#include <vector>

#include "base/shard.h"
#include "graph/builder.h"
#include "passes/partition/sharding.h"

namespace ort_train::passes {

/// Emits the rows of some of the `samples` samples that `value` holds.
graph::Value* take_rows(graph::Builder& builder, graph::Value* value, const Sharding& sharding, std::int64_t samples,
                        const Shard& rows);

/// Emits the array of all `samples` samples that has `rows` at `place` and zeros elsewhere. It is the adjoint of
/// take_rows, and the arrays of all shards add up to the whole one.
graph::Value* put_rows(graph::Builder& builder, graph::Value* rows, const Sharding& sharding, std::int64_t samples,
                       const Shard& place);

/// Emits the rows of consecutive shards, none of them empty, as one array.
graph::Value* join_rows(graph::Builder& builder, const std::vector<graph::Value*>& parts, const Sharding& sharding);

}  // namespace ort_train::passes
