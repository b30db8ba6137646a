#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// BatchNormalizationTraining followed by Relu becomes one node with `activation = "Relu"`, forward and backward: the
/// normalized values need not be kept, since the gradient passes where the output is positive.
class FuseBatchNormalizationRelu : public Pass {
 public:
  std::string name() const override { return "fuse-batch-normalization-relu"; }
  bool optional() const override { return true; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
