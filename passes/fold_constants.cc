#include "passes/fold_constants.h"

#include <algorithm>

#include "graph/shape_inference.h"
#include "kernels/kernel.h"
#include "passes/collectives.h"
#include "passes/random_operators.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Role;
using graph::Value;

namespace {

bool depends_on_type_alone(const Node& node) {
  return (node.is("Shape") || node.is("Size")) && node.input(0)->type().is_static();
}

bool has_constant_inputs(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* input) { return input == nullptr || input->is_constant(); });
}

bool can_fold(const Node& node) {
  if (kernels::find_kernel(node.op_type(), node.domain()) == nullptr) return false;
  if (is_random_operator(node) || is_collective(node)) return false;
  return depends_on_type_alone(node) || has_constant_inputs(node);
}

std::vector<Tensor> input_elements(const Node& node) {
  std::vector<Tensor> elements;
  for (const Value* input : node.inputs()) {
    if (input == nullptr) {
      elements.emplace_back();
    } else if (input->is_constant()) {
      elements.push_back(input->initial());
    } else {
      // Only extents are read; an array without storage carries them.
      elements.push_back(Tensor::view(input->dtype(), input->dims(), nullptr));
    }
  }
  return elements;
}

void fold(Node& node) {
  Graph& graph = node.graph();
  const std::vector<Tensor> results = kernels::evaluate(node, input_elements(node));
  for (std::size_t i = 0; i < results.size(); ++i) {
    Value* output = node.outputs()[i];
    if (output == nullptr) continue;
    const std::string name = output->name();
    graph.rename(output, graph.unique_name(name + ".folded"));
    graph.replace_uses(output, graph.add_initializer(name, Role::constant, results[i]));
  }
  graph.remove(&node);
}

}  // namespace

bool FoldConstants::run(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    graph::infer_types(*node);
    if (!can_fold(*node)) continue;
    fold(*node);
    changed = true;
  }
  return changed;
}

}  // namespace ort_train::passes
