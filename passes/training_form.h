#pragma once

#include <cstdint>

#include "passes/pass.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

/// Puts a BatchNormalization node, of any opset, into inference mode.
void to_inference(graph::Node& batch_normalization);

/// Puts BatchNormalization and Dropout into training mode: BatchNormalizationTraining with updates of its running
/// statistics, TrainingDropout with a random stream of its own. `Form::as_in_file` does so only for nodes that the file
/// has in training mode; the others go into inference form. Random operators draw anew in every step, each from a
/// stream of its own.
class TrainingForm : public Pass {
 public:
  TrainingForm(Form form, std::uint64_t seed) : form_(form), seed_(seed) {}
  std::string name() const override { return "training-form"; }
  bool run(graph::Graph& graph) override;

 private:
  Form form_;
  std::uint64_t seed_;
};

/// Puts BatchNormalization into inference mode and takes Dropout out. Random operators draw the numbers of step 0, so
/// that evaluation is repeatable.
class InferenceForm : public Pass {
 public:
  explicit InferenceForm(std::uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "inference-form"; }
  bool run(graph::Graph& graph) override;

 private:
  std::uint64_t seed_;
};

}  // namespace ort_train::passes
