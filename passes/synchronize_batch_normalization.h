#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Takes BatchNormalizationTraining and its gradient apart into sums over the batch and what follows from them, so that
/// a batch divided among replicas is normalized by the statistics of the whole (as in "MegDet", Peng and others, 2018).
/// Mean and variance are taken in two passes over the data, as on one device.
class SynchronizeBatchNormalization : public Pass {
 public:
  std::string name() const override { return "synchronize-batch-normalization"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
