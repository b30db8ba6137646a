#include "passes/partition/analysis.h"

#include <algorithm>

#include "base/error.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

Sharding sharding_of_input(const Value& input, const BatchInputs& batch) {
  const auto axis = batch.axes.find(input.name());
  if (axis == batch.axes.end()) {
    return input.dims().empty() ? Sharding::replicated() : Sharding::open();
  }
  const Dims dims = input.dims();
  if (axis->second < 0 || axis->second >= static_cast<std::int64_t>(dims.size())) {
    fail("the input '", input.name(), "' is ", to_string(input.type()), " and has no axis ", axis->second,
         " for the samples");
  }
  if (dims[static_cast<std::size_t>(axis->second)] != batch.samples) {
    fail("the input '", input.name(), "' is ", to_string(input.type()), ", but there are ", batch.samples,
         " samples along axis ", axis->second);
  }
  return Sharding::along(axis->second);
}

}  // namespace

PartitionAnalysis::PartitionAnalysis(const Graph& graph, const BatchInputs& batch) : samples_(batch.samples) {
  do {
    shardings_.clear();
    decisions_.clear();
    add_inputs(graph, batch);
    for (const auto& node : graph.nodes()) decide(*node);
  } while (find_reduced(graph));
}

void PartitionAnalysis::add_inputs(const Graph& graph, const BatchInputs& batch) {
  for (const Value* input : graph.inputs()) shardings_[input] = sharding_of_input(*input, batch);
  for (const Value* value : graph.initializers()) shardings_[value] = Sharding::replicated();
}

void PartitionAnalysis::decide(const Node& node) {
  std::vector<Sharding> inputs;
  for (const Value* input : node.inputs()) {
    const bool whole = input == nullptr || reduced_.count(input) != 0;
    inputs.push_back(whole ? Sharding::replicated() : shardings_.at(input));
  }
  const bool divided = std::any_of(inputs.begin(), inputs.end(), [](const Sharding& s) { return !s.is_replicated(); });
  PartitionContext context(node, std::move(inputs), samples_);
  if (divided) {
    const PartitionRule rule = find_partition_rule(node.op_type(), node.domain());
    for (int i = 0; rule == nullptr && i < static_cast<int>(node.inputs().size()); ++i) context.need_replicated(i);
    if (rule != nullptr) rule(context);
  }
  const Decision& decision = context.decision();
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* input = node.inputs()[i];
    const bool resolves = input != nullptr && shardings_.at(input) == Sharding::open();
    if (resolves) shardings_[input] = decision.inputs[i];
  }
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    if (node.outputs()[i] != nullptr) shardings_[node.outputs()[i]] = decision.outputs[i];
  }
  decisions_.emplace(&node, decision);
}

bool PartitionAnalysis::find_reduced(const Graph& graph) {
  const std::size_t before = reduced_.size();
  const auto add = [&](const Value* value) {
    if (shardings_.at(value).is_partial()) reduced_.insert(value);
  };
  for (const auto& node : graph.nodes()) {
    const Decision& decision = decisions_.at(node.get());
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      if (node->inputs()[i] != nullptr && !decision.inputs[i].is_partial()) add(node->inputs()[i]);
    }
  }
  for (const Value* output : graph.outputs()) add(output);
  for (const graph::Update& update : graph.updates()) add(update.next);
  return reduced_.size() != before;
}

std::map<std::string, Sharding> input_shardings(const Graph& graph, const BatchInputs& batch) {
  const PartitionAnalysis analysis(graph, batch);
  std::map<std::string, Sharding> result;
  for (const Value* input : graph.inputs()) {
    if (analysis.of(input).is_sharded()) result[input->name()] = analysis.of(input);
  }
  return result;
}

}  // namespace ort_train::passes
