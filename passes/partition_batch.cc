#include "passes/partition_batch.h"

#include "passes/partition/partitioner.h"

namespace ort_train::passes {

bool PartitionBatch::run(graph::Graph& graph) {
  if (!replication_.divides()) return false;
  graph.swap(*partition(graph, batch_, replication_));
  return true;
}

}  // namespace ort_train::passes
