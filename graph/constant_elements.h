#pragma once

#include "graph/graph.h"

namespace ort_train::graph {

/// The elements of a value that no run changes: a constant, or what a Constant node gives as one tensor. Null for any
/// other value, and for null.
const Tensor* constant_elements(const Value* value);

}  // namespace ort_train::graph
