#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace ort_train::passes {

/// Reverse-mode differentiation: appends to `graph` the nodes that compute the gradient of `loss`, which must have one
/// element, for every value of `wanted`, and returns those gradients by value. A gradient has the type and extents of
/// its value and is named "<value>.gradient" where that name says no less than the truth (several values can share one
/// gradient). A wanted value that the loss does not depend on gets a constant of zeros. All shapes must be numbers.
///
/// Throws ONE Error that lists every node in the way: operators without a gradient rule and attributes that a rule
/// does not know. The graph is of no use after that.
std::map<graph::Value*, graph::Value*> add_gradients(graph::Graph& graph, graph::Value* loss,
                                                     const std::vector<graph::Value*>& wanted);

/// The nodes that a gradient from any of the losses to any of the wanted values would have to pass but cannot, since
/// their operator has no rule. Needs element types, but no shapes.
std::vector<const graph::Node*> nodes_without_gradient(const graph::Graph& graph,
                                                       const std::vector<graph::Value*>& wanted,
                                                       const std::vector<graph::Value*>& losses);

}  // namespace ort_train::passes
