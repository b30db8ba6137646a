#include "passes/scalar_input.h"

namespace ort_train::passes {

graph::Value* scalar_input(graph::Graph& graph, const char* name, DataType dtype) {
  graph::Value* known = graph.find(name);
  return known != nullptr ? known : graph.add_input(name, graph::Type(dtype, graph::Shape{}));
}

}  // namespace ort_train::passes
