#pragma once

#include <vector>

#include "graph/graph.h"

namespace ort_train::graph {

/// The types of the node's outputs, from its inputs, by the operator's ONNX schema. Constant inputs (initializers of
/// role `constant` and outputs of Constant nodes) are visible to the schema, as axes and shapes have to be. A type is
/// unknown where the schema is silent, for an operator without a schema, and for one that runs subgraphs. Throws an
/// Error that names the node, the operator and the input shapes when the schema refuses them.
std::vector<Type> inferred_types(const Node& node);

/// Gives the node's outputs their inferred types; those that are unknown stay as they are. Where only the element type
/// is known, a graph output keeps its declared extents and an intermediate value loses those that a file claimed.
void infer_types(Node& node);

/// The same for every node, in order.
void infer_types(Graph& graph);

}  // namespace ort_train::graph
