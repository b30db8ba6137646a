#include "passes/fuse_batch_normalization_relu.h"

#include <vector>

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::training_domain;
using graph::Use;
using graph::Value;

namespace {

Node* only_user(const Value* value) {
  return value->uses().size() == 1 && !value->is_graph_output() ? value->uses().front().node : nullptr;
}

/// The backward nodes that belong to one BatchNormalizationTraining and its Relu; null where there is no backward part.
struct Backward {
  Node* relu_grad = nullptr;
  Node* batch_normalization_grad = nullptr;
};

// Returns false when something in between reads the gradient, so that the mask cannot move.
bool find_backward(const Node& batch_normalization, const Value* activated, Backward& backward) {
  for (const Use& use : activated->uses()) {
    if (!use.node->is("ReluGrad", training_domain) || use.index != 1) continue;
    if (backward.relu_grad != nullptr) return false;
    backward.relu_grad = use.node;
  }
  if (backward.relu_grad == nullptr) return true;
  backward.batch_normalization_grad = only_user(backward.relu_grad->output());
  Node* grad = backward.batch_normalization_grad;
  return grad != nullptr && grad->is("BatchNormalizationGrad", training_domain) &&
         grad->input(0) == backward.relu_grad->output() && grad->input(3) == batch_normalization.output(3);
}

bool fuse(Node& batch_normalization) {
  Graph& graph = batch_normalization.graph();
  Node* relu = only_user(batch_normalization.output());
  if (relu == nullptr || !relu->is("Relu") || !batch_normalization.string("activation", "").empty()) return false;
  Backward backward;
  if (!find_backward(batch_normalization, relu->output(), backward)) return false;

  Value* activated = relu->output();
  const std::string name = activated->name();
  batch_normalization.set("activation", std::string("Relu"));
  graph.replace_uses(activated, batch_normalization.output());
  graph.remove(relu);
  graph.rename(batch_normalization.output(), name);
  if (backward.relu_grad == nullptr) return true;

  Node& grad = *backward.batch_normalization_grad;
  grad.set("activation", std::string("Relu"));
  grad.set_input(0, backward.relu_grad->input(0));
  grad.set_input(5, batch_normalization.output());
  graph.remove(backward.relu_grad);
  return true;
}

}  // namespace

bool FuseBatchNormalizationRelu::run(Graph& graph) {
  std::vector<Node*> candidates;
  for (Node* node : graph.node_list()) {
    if (node->is("BatchNormalizationTraining", training_domain)) candidates.push_back(node);
  }
  bool changed = false;
  for (Node* node : candidates) changed |= fuse(*node);
  return changed;
}

}  // namespace ort_train::passes
