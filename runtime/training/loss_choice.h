#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/training_graph.h"
#include "runtime/data/dataset.h"

namespace ort_train::training {

/// A loss for a model with one output, by how that output is made and what the labels are: Softmax ->
/// softmax_cross_entropy, LogSoftmax -> nll, Sigmoid -> bce, class numbers -> softmax_cross_entropy (bce_with_logits
/// for a single column), anything else -> mse. `why` receives the reason in a few words. `labels` may be null. Throws
/// (usage) for a model with several outputs.
passes::LossSpec choose_loss(const graph::Graph& model, const data::Field* labels, std::string& why);

/// accuracy for class losses, binary_accuracy for bce, mae for mse, mse for l1: one for each loss.
std::vector<passes::MetricSpec> choose_metrics(const std::vector<passes::LossSpec>& losses);

}  // namespace ort_train::training
