#pragma once

#include <string>

#include "graph/graph.h"

namespace ort_train::graph {

/// Checks the invariants that every pass must keep: one producer a value, use lists that match, topological order,
/// unique names, known operators with legal attribute and input counts, types that agree with inference, updates that
/// fit their state, running statistics never trainable. Throws an Error that starts with `where` (a pass name, say).
void verify(const Graph& graph, const std::string& where);

}  // namespace ort_train::graph
