#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Removes nodes that no output and no update depends on, optional outputs that nothing reads, and unused constants.
/// State stays, used or not.
class EliminateDeadCode : public Pass {
 public:
  std::string name() const override { return "eliminate-dead-code"; }
  bool optional() const override { return true; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
