#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/pass.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

/// Marks the parameters to be trained: all floating-point ones that an operator reads, or those that `trainable` globs
/// name (by initializer, or by node: every parameter of that node), less those that `freeze` globs name.
class MarkTrainable : public Pass {
 public:
  explicit MarkTrainable(const TrainingSpec& spec)
      : trainable_(spec.trainable), freeze_(spec.freeze), exact_(spec.trainable_names) {}
  std::string name() const override { return "mark-trainable"; }
  bool run(graph::Graph& graph) override;

 private:
  std::vector<std::string> trainable_, freeze_;
  std::optional<std::vector<std::string>> exact_;
};

}  // namespace ort_train::passes
