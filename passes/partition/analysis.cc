#include "passes/partition/analysis.h"

#include "base/error.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

Sharding sharding_of_input(const Value& input, const BatchInputs& batch) {
  if (const auto label = batch.labels.find(input.name()); label != batch.labels.end()) return label->second;
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

PartitionAnalysis::PartitionAnalysis(const Graph& graph, const BatchInputs& batch)
    : samples_(batch.samples), wanted_outputs_(batch.outputs) {
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

Sharding PartitionAnalysis::of_output(const Value* output) const {
  const Sharding& lying = of(output);
  if (!wanted_outputs_) return lying.is_sharded() ? lying : Sharding::replicated();
  const auto wanted = wanted_outputs_->find(output->name());
  return wanted == wanted_outputs_->end() ? Sharding::replicated() : wanted->second;
}

void PartitionAnalysis::decide(const Node& node) {
  std::vector<Sharding> inputs;
  for (const Value* input : node.inputs()) {
    const bool whole = input == nullptr || reduced_.count(input) != 0;
    inputs.push_back(whole ? Sharding::replicated() : shardings_.at(input));
  }
  const Decision decision = decide_partition(node, inputs, samples_);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* input = node.inputs()[i];
    const bool resolves = input != nullptr && shardings_.at(input) == Sharding::open();
    if (resolves) shardings_[input] = resolve_label(*input, decision.inputs[i]);
  }
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    if (node.outputs()[i] != nullptr) shardings_[node.outputs()[i]] = decision.outputs[i];
  }
  decisions_.emplace(&node, decision);
}

Sharding PartitionAnalysis::resolve_label(const Value& label, const Sharding& needed) const {
  if (!needed.is_replicated()) return needed;
  const std::optional<Sharding> sharding = along_first_axis(label.dims(), samples_);
  if (!sharding) {
    fail("the label '", label.name(), "' has the shape ", to_string(label.dims()), " for a batch of ", samples_,
         "; the first axis of the output that it belongs to must count samples");
  }
  return *sharding;
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

std::map<std::string, Sharding> output_shardings(const Graph& graph, const BatchInputs& batch) {
  const PartitionAnalysis analysis(graph, batch);
  std::map<std::string, Sharding> result;
  for (const Value* output : graph.outputs()) {
    if (analysis.of_output(output).is_sharded()) result[output->name()] = analysis.of_output(output);
  }
  return result;
}

}  // namespace ort_train::passes
