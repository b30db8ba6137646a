#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace ort_train::tests {

/// Runs the graphs of all replicas in lock-step, node by node with the plain kernels, and carries out the collective
/// nodes between them: the oracle of data parallelism. Graph r is that of replica r; `feeds` and the results are those
/// of kernels::interpret, one map a replica. Throws an Error when the replicas do not come to the same collectives.
std::vector<std::map<std::string, Tensor>> interpret_replicas(const std::vector<std::unique_ptr<graph::Graph>>& graphs,
                                                              const std::vector<std::map<std::string, Tensor>>& feeds);

}  // namespace ort_train::tests
