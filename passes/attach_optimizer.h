#pragma once

#include <map>
#include <string>

#include "passes/pass.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

/// Adds one update node for each trainable parameter, and the optimizer's state. `gradients` maps a parameter's name to
/// the name of its gradient.
class AttachOptimizer : public Pass {
 public:
  AttachOptimizer(OptimizerSpec optimizer, const std::map<std::string, std::string>& gradients)
      : optimizer_(std::move(optimizer)), gradients_(gradients) {}
  std::string name() const override { return "attach-optimizer"; }
  bool run(graph::Graph& graph) override;

 private:
  OptimizerSpec optimizer_;
  const std::map<std::string, std::string>& gradients_;
};

}  // namespace ort_train::passes
