#include "passes/preflight.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "graph/shape_inference.h"
#include "kernels/kernel.h"
#include "passes/autodiff.h"
#include "passes/random_operators.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

std::vector<Value*> loss_inputs(const Graph& graph, const std::vector<LossSpec>& losses) {
  std::vector<Value*> out;
  out.reserve(losses.size());
  for (const LossSpec& loss : losses) out.push_back(graph.at(loss.output));
  return out;
}

}  // namespace

bool Preflight::run(Graph& graph) {
  std::map<const Node*, std::string> lacking;
  for (const auto& node : graph.nodes()) {
    // Training and evaluation write these with operators of definite results.
    if (is_random_operator(*node)) continue;
    if (kernels::find_kernel(node->op_type(), node->domain()) == nullptr) lacking[node.get()] = "no kernel";
  }
  if (!losses_.empty()) {
    graph::infer_types(graph);
    const auto without = nodes_without_gradient(graph, graph.trainable_parameters(), loss_inputs(graph, losses_));
    for (const Node* node : without) lacking[node] += lacking[node].empty() ? "no gradient" : ", no gradient";
  }
  if (lacking.empty()) return false;
  std::string sentence = text("the model cannot be ", losses_.empty() ? "run" : "trained", " here; ", lacking.size(),
                              lacking.size() == 1 ? " operator stands" : " operators stand", " in the way:");
  for (const auto& node : graph.nodes()) {
    const auto found = lacking.find(node.get());
    if (found != lacking.end()) sentence += "\n  " + describe(*node) + ": " + found->second;
  }
  throw Error(sentence);
}

}  // namespace ort_train::passes
