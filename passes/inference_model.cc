#include <algorithm>

#include "base/error.h"
#include "passes/assign_roles.h"
#include "passes/free_batch_size.h"
#include "passes/training_form.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

// A Dropout stays, so that the file can be trained again, but without a mode of its own it does nothing.
void to_inference_dropout(Node& node) {
  if (node.inputs().size() > 2) node.resize_inputs(2);
}

// A weight may have come as a Constant node; it goes back the same way.
void store(Graph& graph, const std::string& name, const Tensor& elements) {
  Value* value = graph.find(name);
  if (value == nullptr) return;
  if (value->is_initializer()) {
    value->set_initial(elements);
  } else if (Node* producer = value->producer(); producer != nullptr && producer->is("Constant")) {
    for (const auto& attribute : graph::Attributes(producer->attributes())) producer->erase(attribute.first);
    producer->set("value", elements);
  }
}

}  // namespace

std::unique_ptr<Graph> build_inference_model(const Graph& model, const std::map<std::string, Tensor>& state) {
  std::unique_ptr<Graph> graph = model.clone();
  separate_running_statistics(*graph);
  for (const auto& [name, elements] : state) store(*graph, name, elements);
  for (Node* node : graph->node_list()) {
    if (node->is("BatchNormalization")) to_inference(*node);
    if (node->is("Dropout")) to_inference_dropout(*node);
  }
  FreeBatchSize().run(*graph);
  graph->metadata.producer_name = "ort-train";
  return graph;
}

}  // namespace ort_train::passes
