#pragma once

#include "graph/graph.h"

namespace ort_train::passes {

/// The fed scalar of that name; added to the graph's inputs by the first pass that asks for it.
graph::Value* scalar_input(graph::Graph& graph, const char* name, DataType dtype);

}  // namespace ort_train::passes
