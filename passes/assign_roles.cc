#include "passes/assign_roles.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/builder.h"
#include "kernels/kernel.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Role;
using graph::Use;
using graph::Value;

namespace {

using InputsByOperator = std::map<std::string, std::set<int>>;

// Where an operator takes a number that steers it rather than a weight.
const InputsByOperator& hyper_parameters() {
  static const InputsByOperator table = {
      {"Resize", {1, 2, 3}},
      {"Upsample", {1}},
      {"Clip", {1, 2}},
      {"Dropout", {1, 2}},
      {"Pad", {1, 2, 3}},
      {"OneHot", {1, 2}},
      {"QuantizeLinear", {1, 2}},
      {"DequantizeLinear", {1, 2}},
      {"Range", {0, 1, 2}},
      {"Reshape", {1}},
      {"Expand", {1}},
  };
  return table;
}

// Where an operator has its weight.
const InputsByOperator& weights() {
  static const InputsByOperator table = {
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"Gemm", {1, 2}},
      {"MatMul", {0, 1}},
      {"BatchNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"InstanceNormalization", {1, 2}},
      {"GroupNormalization", {1, 2}},
      {"RMSNormalization", {1}},
      {"PRelu", {1}},
      {"LSTM", {1, 2, 3}},
      {"GRU", {1, 2, 3}},
      {"RNN", {1, 2, 3}},
  };
  return table;
}

bool all_uses_in(const Value* value, const InputsByOperator& table) {
  return !value->uses().empty() && std::all_of(value->uses().begin(), value->uses().end(), [&](const Use& use) {
    const auto row = table.find(use.node->op_type());
    return row != table.end() && row->second.count(use.index) != 0;
  });
}

bool any_use_in(const Value* value, const InputsByOperator& table) {
  return std::any_of(value->uses().begin(), value->uses().end(), [&](const Use& use) {
    const auto row = table.find(use.node->op_type());
    return row != table.end() && row->second.count(use.index) != 0;
  });
}

bool constant_nodes_to_initializers(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (!node->is("Constant")) continue;
    const Tensor elements = kernels::evaluate(*node, {}).front();
    Value* old = node->output();
    const bool is_weight = is_floating_point(elements.dtype()) && elements.size() > 1 && any_use_in(old, weights());
    const std::string name = old->name();
    graph.rename(old, graph.unique_name(name + ".node"));
    Value* stored = graph.add_initializer(name, is_weight ? Role::parameter : Role::constant, elements);
    graph.replace_uses(old, stored);
    graph.remove(node);
    changed = true;
  }
  return changed;
}

// An exporter that merges equal arrays puts an Identity in front of each use; the statistic itself is the initializer.
void look_through_identities(Node& batch_normalization, int index) {
  Value* value = batch_normalization.input(index);
  while (value != nullptr && value->producer() != nullptr && value->producer()->is("Identity")) {
    value = value->producer()->input(0);
    batch_normalization.set_input(index, value);
  }
}

bool assign_hyper_parameters(Graph& graph) {
  bool changed = false;
  for (Value* value : graph.initializers()) {
    if (value->role() != Role::parameter || !all_uses_in(value, hyper_parameters())) continue;
    value->set_role(Role::constant);
    changed = true;
  }
  return changed;
}

}  // namespace

bool separate_running_statistics(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (!node->is("BatchNormalization")) continue;
    for (int index : {3, 4}) {
      look_through_identities(*node, index);
      Value* statistic = node->input(index);
      if (statistic == nullptr || !statistic->is_initializer() || statistic->role() == Role::running_statistic) {
        continue;
      }
      changed = true;
      if (statistic->uses().size() == 1 && !statistic->is_graph_output()) {
        statistic->set_role(Role::running_statistic);
        continue;
      }
      const std::string name =
          graph.unique_name(node->output()->name() + (index == 3 ? ".running_mean" : ".running_var"));
      node->set_input(index, graph.add_initializer(name, Role::running_statistic, statistic->initial()));
    }
  }
  return changed;
}

bool AssignRoles::run(Graph& graph) {
  bool changed = constant_nodes_to_initializers(graph);
  changed |= separate_running_statistics(graph);
  changed |= assign_hyper_parameters(graph);
  return changed;
}

}  // namespace ort_train::passes
