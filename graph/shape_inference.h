#pragma once

#include "graph/graph.h"

namespace ort_train::graph {

/// Sets the types of the node's outputs from its inputs, by the operator's ONNX schema. Constant inputs (initializers
/// of role `constant`) are visible to the schema, as axes and shapes have to be. Throws an Error that names the node,
/// the operator and the input shapes when the schema refuses them. Outputs of an operator without a schema stay as they
/// are.
void infer_types(Node& node);

/// The same for every node, in order; what the file claimed of intermediate values is overwritten.
void infer_types(Graph& graph);

}  // namespace ort_train::graph
