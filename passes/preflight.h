#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

/// Throws ONE Error that lists every node of the graph that cannot be computed (no kernel) or through which a gradient
/// would have to pass but cannot (no rule). Changes nothing.
class Preflight : public Pass {
 public:
  /// With no losses only kernels are asked for.
  explicit Preflight(const TrainingSpec& spec) : losses_(spec.losses) {}
  std::string name() const override { return "preflight"; }
  bool run(graph::Graph& graph) override;

 private:
  std::vector<LossSpec> losses_;
};

}  // namespace ort_train::passes
