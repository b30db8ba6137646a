#include "runtime/collectives/cost_model.h"

#include <cmath>

namespace ort_train::runtime {

namespace {

double ring_pass(double bytes, int replicas, const Interconnect& interconnect) {
  return (replicas - 1) * (interconnect.latency + bytes / replicas / interconnect.bandwidth);
}

double tree_pass(double bytes, int replicas, const Interconnect& interconnect) {
  return std::ceil(std::log2(replicas)) * interconnect.latency + bytes / interconnect.bandwidth;
}

}  // namespace

double seconds_of(const Operation& operation, int replicas, const Interconnect& interconnect,
                  CollectiveAlgorithm algorithm) {
  if (replicas < 2) return 0;
  const double bytes = operation.kind == OperationKind::barrier
                           ? 0
                           : static_cast<double>(operation.count) * static_cast<double>(size_of(operation.dtype));
  const bool tree = algorithm == CollectiveAlgorithm::tree;
  switch (operation.kind) {
    case OperationKind::all_reduce:
      return 2 * (tree ? tree_pass(bytes, replicas, interconnect) : ring_pass(bytes, replicas, interconnect));
    case OperationKind::reduce_scatter:
    case OperationKind::all_gather: return ring_pass(bytes * replicas, replicas, interconnect);
    case OperationKind::broadcast:
    case OperationKind::barrier: return tree_pass(bytes, replicas, interconnect);
  }
  return 0;
}

}  // namespace ort_train::runtime
