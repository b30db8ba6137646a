#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Merges nodes that compute the same from the same inputs, and equal constants. Parameters are never merged: two equal
/// ones may learn to differ.
class EliminateDuplicates : public Pass {
 public:
  std::string name() const override { return "eliminate-duplicates"; }
  bool optional() const override { return true; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
