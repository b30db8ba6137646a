#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Every replica updates its own part of each parameter and keeps only that part of the optimizer's slots (stage 1 of
/// "ZeRO", Rajbhandari and others, 2020): the gradient's AllReduce becomes a ReduceScatter, the update works on flat
/// parts, and an AllGather brings the new parameter together. A slot of n elements then has ceil(n / replicas) of them.
class ShardOptimizer : public Pass {
 public:
  ShardOptimizer(int replicas, int rank) : replicas_(replicas), rank_(rank) {}
  std::string name() const override { return "shard-optimizer"; }
  bool run(graph::Graph& graph) override;

 private:
  int replicas_, rank_;
};

}  // namespace ort_train::passes
