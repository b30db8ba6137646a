#pragma once

#include "graph/graph.h"

namespace ort_train::passes {

/// The replicas carry such a node out together: it must neither vanish nor be merged on one of them alone.
inline bool is_collective(const graph::Node& node) {
  for (const char* op_type : {"AllReduce", "ReduceScatter", "AllGather"}) {
    if (node.is(op_type, graph::training_domain)) return true;
  }
  return false;
}

}  // namespace ort_train::passes
