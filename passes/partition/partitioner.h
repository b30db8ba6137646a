#pragma once

#include <memory>

#include "graph/graph.h"
#include "passes/partition/analysis.h"
#include "passes/replication.h"

namespace ort_train::passes {

/// The graph of one replica, from the graph of the whole batch: nodes that work on samples work on those of the
/// replica, once for each micro-batch; what is a sum over the samples is added up over micro-batches and goes through
/// an AllReduce; everything else stays as it is. Inputs and sharded outputs have the extents of the replica's shard,
/// shard_of(samples, replicas, rank). A replica without samples takes part in every AllReduce, with zeros.
std::unique_ptr<graph::Graph> partition(const graph::Graph& whole, const BatchInputs& batch,
                                        const Replication& replication);

}  // namespace ort_train::passes
