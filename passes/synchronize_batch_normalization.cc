#include "passes/synchronize_batch_normalization.h"

#include "graph/builder.h"

namespace ort_train::passes {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::training_domain;
using graph::Value;

namespace {

std::int64_t elements_a_channel(const Value* x) { return element_count(x->dims()) / x->dims().at(1); }

Value* mean_of(Builder& builder, Value* sum, std::int64_t count) {
  return builder.mul(sum, builder.scalar_like(1.0 / static_cast<double>(count), sum));
}

Value* next_running(Builder& builder, Value* running, Value* batch, double momentum) {
  Value* kept = builder.mul(running, builder.scalar_like(momentum, running));
  Value* added = builder.mul(batch, builder.scalar_like(1 - momentum, batch));
  return builder.add(kept, added);
}

/// The new value takes the place and the name of an output of the old node.
void take_over(Node& node, int output, Value* value) {
  Value* old = node.output(output);
  if (old == nullptr) return;
  Graph& graph = node.graph();
  const std::string name = old->name();
  graph.replace_uses(old, value);
  graph.rename(old, graph.unique_name(name + ".local"));
  graph.rename(value, name);
}

void take_forward_apart(Node& node) {
  Graph& graph = node.graph();
  Builder builder(graph, node.output()->name() + ".", &node);
  Value* x = node.input(0);
  const std::int64_t count = elements_a_channel(x);
  const double momentum = node.real("momentum", 0.9F);
  Value* mean = mean_of(builder, builder.emit_training("ChannelSum", {x}), count);
  Value* variance = mean_of(builder, builder.emit_training("ChannelSquaredDeviation", {x, mean}), count);
  Value* y = builder.emit("BatchNormalization", {x, node.input(1), node.input(2), mean, variance},
                          {{"epsilon", node.real("epsilon", 1e-5F)}});
  if (!node.string("activation", "").empty()) y = builder.emit(node.string("activation", ""), {y});
  if (node.output(1) != nullptr) take_over(node, 1, next_running(builder, node.input(3), mean, momentum));
  if (node.output(2) != nullptr) take_over(node, 2, next_running(builder, node.input(4), variance, momentum));
  take_over(node, 0, y);
  take_over(node, 3, mean);
  take_over(node, 4, variance);
  graph.remove(&node);
}

void take_backward_apart(Node& node) {
  Graph& graph = node.graph();
  Builder builder(graph, node.output()->name() + ".", &node);
  graph::Attributes attributes = node.attributes();
  Value *dy = node.input(0), *x = node.input(1), *scale = node.input(2);
  Value *mean = node.input(3), *variance = node.input(4), *activated = node.input(5);
  const auto sums =
      builder.emit_training_many("BatchNormalizationGradSums", {dy, x, mean, variance, activated}, 2, attributes);
  attributes["count"] = elements_a_channel(x);
  Value* dx = builder.emit_training("BatchNormalizationGradInput",
                                    {dy, x, scale, mean, variance, sums[0], sums[1], activated}, attributes);
  take_over(node, 0, dx);
  take_over(node, 1, sums[0]);
  take_over(node, 2, sums[1]);
  graph.remove(&node);
}

}  // namespace

bool SynchronizeBatchNormalization::run(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (node->is("BatchNormalizationTraining", training_domain)) {
      take_forward_apart(*node);
    } else if (node->is("BatchNormalizationGrad", training_domain)) {
      take_backward_apart(*node);
    } else {
      continue;
    }
    changed = true;
  }
  return changed;
}

}  // namespace ort_train::passes
