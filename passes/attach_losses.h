#pragma once

#include <vector>

#include "passes/pass.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

/// Fills in what a specification leaves to the model: the only output, the names of labels. Throws (usage) when an
/// output does not exist or has to be named.
TrainingSpec resolve(const graph::Graph& model, TrainingSpec spec);

/// Adds label inputs and loss nodes. Each loss gives its sum and its count over the batch; the mean is their quotient,
/// so that shards of a batch add up exactly. The weighted total is the output "ort_train.loss"; the model's own outputs
/// stay as they are. In `Form::training` a trailing Softmax, LogSoftmax or Sigmoid is looked through: the loss reads
/// what stands before it, which is safe for any logits.
class AttachLosses : public Pass {
 public:
  /// `spec` must be resolved.
  explicit AttachLosses(const TrainingSpec& spec) : losses_(spec.losses), form_(spec.form) {}
  std::string name() const override { return "attach-losses"; }
  bool run(graph::Graph& graph) override;

 private:
  std::vector<LossSpec> losses_;
  Form form_;
};

/// Adds metric nodes, each with a sum and a count as outputs.
class AttachMetrics : public Pass {
 public:
  explicit AttachMetrics(const TrainingSpec& spec) : metrics_(spec.metrics), losses_(spec.losses) {}
  std::string name() const override { return "attach-metrics"; }
  bool run(graph::Graph& graph) override;

 private:
  std::vector<MetricSpec> metrics_;
  std::vector<LossSpec> losses_;
};

}  // namespace ort_train::passes
