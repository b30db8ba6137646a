#include "passes/training_form.h"

#include "base/error.h"
#include "graph/builder.h"
#include "kernels/kernel.h"
#include "passes/random_operators.h"
#include "passes/scalar_input.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

bool is_frozen(const Value* value) { return value != nullptr && value->is_initializer() && !value->trainable(); }

// Outputs 1 and 2 of the training form are the updated statistics; nothing but the update may read them.
void drop_statistic_outputs(Node& node) {
  for (int index = static_cast<int>(node.outputs().size()) - 1; index >= 1; --index) {
    Value* output = node.output(index);
    if (output == nullptr) continue;
    if (!output->uses().empty() || output->is_graph_output()) {
      fail(describe(node), ": its updated statistic '", output->name(),
           "' is read by the model, which is not supported");
    }
    node.drop_output(index);
  }
}

void to_training(Node& node) {
  Graph& graph = node.graph();
  for (int index : {3, 4}) {
    if (!node.input(index)->is_initializer()) {
      fail(describe(node), ": its running statistic '", node.input(index)->name(),
           "' is computed by the graph, so it cannot be updated in training");
    }
  }
  drop_statistic_outputs(node);
  const Attributes attributes = {{"epsilon", node.real("epsilon", 1e-5F)}, {"momentum", node.real("momentum", 0.9F)}};
  const std::string name = node.output()->name();
  const auto statistic = [&](const char* suffix) { return graph.unique_name(name + suffix); };
  graph.opsets.emplace(std::string(graph::training_domain), 1);
  graph.rename(node.output(), graph.unique_name(name + ".inference"));
  Node* training = graph.add_node("BatchNormalizationTraining", std::string(graph::training_domain), node.inputs(),
                                  {name, statistic(".new_running_mean"), statistic(".new_running_var"),
                                   statistic(".batch_mean"), statistic(".batch_var")},
                                  attributes, node.name(), &node);
  training->output(0)->set_type(node.output()->type());
  for (int index = 1; index <= 4; ++index) training->output(index)->set_type(node.input(3)->type());
  graph.replace_uses(node.output(), training->output());
  for (int index : {0, 1}) graph.add_update(node.input(3 + index), training->output(1 + index));
  graph.remove(&node);
}

bool is_true(const Value* value) {
  return value != nullptr && value->is_initializer() && value->initial().size() == 1 &&
         value->initial().to_int64s().front() != 0;
}

double dropout_ratio(const Node& node) {
  const Value* ratio = node.input(1);
  if (ratio == nullptr) return 0.5;
  if (!ratio->is_initializer()) fail(describe(node), ": its ratio is computed by the graph, which is not supported");
  return ratio->initial().to_doubles().front();
}

void remove_dropout(Node& node) {
  Graph& graph = node.graph();
  if (Value* mask = node.output(1); mask != nullptr && (!mask->uses().empty() || mask->is_graph_output())) {
    fail(describe(node), ": its mask is used, which is not supported");
  }
  Value* output = node.output();
  if (!output->is_graph_output()) {
    graph.replace_uses(output, node.input(0));
    graph.remove(&node);
    return;
  }
  node.drop_output(1);
  node.resize_inputs(1);
  node.rename_operator("Identity", "");
  node.erase("seed");
}

void to_training_dropout(Node& node, std::uint64_t seed, std::int64_t stream) {
  Graph& graph = node.graph();
  const auto ratio = static_cast<float>(dropout_ratio(node));
  if (!(ratio >= 0 && ratio < 1)) fail(describe(node), ": its ratio ", ratio, " should lie in [0, 1)");
  graph.opsets.emplace(std::string(graph::training_domain), 1);
  node.resize_inputs(1);
  node.set_input(1, scalar_input(graph, step_input, DataType::int64));
  node.set_input(2, scalar_input(graph, first_sample_input, DataType::int64));
  node.rename_operator("TrainingDropout", std::string(graph::training_domain));
  node.set("ratio", ratio);
  node.set("seed", static_cast<std::int64_t>(seed));
  node.set("stream", stream);
}

}  // namespace

void to_inference(Node& batch_normalization) {
  drop_statistic_outputs(batch_normalization);
  // Before opset 14 the number of outputs told the mode.
  batch_normalization.erase("training_mode");
}

bool TrainingForm::run(Graph& graph) {
  std::int64_t dropouts = 0, random_operators = 0;
  for (Node* node : graph.node_list()) {
    if (node->is("BatchNormalization")) {
      const bool in_training = form_ == Form::training ? !(is_frozen(node->input(1)) && is_frozen(node->input(2)))
                                                       : node->integer("training_mode", 0) != 0;
      in_training ? to_training(*node) : to_inference(*node);
    } else if (node->is("Dropout")) {
      const bool active = dropout_ratio(*node) > 0 && (form_ == Form::training || is_true(node->input(2)));
      active ? to_training_dropout(*node, seed_, dropouts) : remove_dropout(*node);
      ++dropouts;
    } else if (is_random_operator(*node)) {
      const RandomSource source = {seed_, scalar_input(graph, step_input, DataType::int64),
                                   scalar_input(graph, first_sample_input, DataType::int64)};
      lower_random_operator(*node, source, random_operators++);
    }
  }
  return true;
}

bool InferenceForm::run(Graph& graph) {
  bool changed = false;
  std::int64_t random_operators = 0;
  for (Node* node : graph.node_list()) {
    if (node->is("BatchNormalization")) {
      to_inference(*node);
      changed = true;
    } else if (node->is("Dropout")) {
      remove_dropout(*node);
      changed = true;
    } else if (is_random_operator(*node)) {
      Value* zero = graph.add_constant("ort_train.zero", Tensor::scalar(std::int64_t{0}));
      lower_random_operator(*node, {seed_, zero, zero}, random_operators++);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ort_train::passes
