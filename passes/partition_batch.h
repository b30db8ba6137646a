#pragma once

#include "passes/partition/analysis.h"
#include "passes/pass.h"
#include "passes/replication.h"

namespace ort_train::passes {

/// Turns the graph of a whole batch into that of one replica (see passes/partition/partitioner.h).
class PartitionBatch : public Pass {
 public:
  PartitionBatch(BatchInputs batch, const Replication& replication)
      : batch_(std::move(batch)), replication_(replication) {}
  std::string name() const override { return "partition-batch"; }
  bool run(graph::Graph& graph) override;

 private:
  BatchInputs batch_;
  Replication replication_;
};

}  // namespace ort_train::passes
