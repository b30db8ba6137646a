#pragma once

#include <cstddef>

#include "runtime/collectives/operation.h"

namespace ort_train::runtime {

/// What connects the replicas, in the model of Hockney: a message of n bytes takes latency + n / bandwidth.
struct Interconnect {
  double latency = 10e-6;     ///< seconds
  double bandwidth = 12.5e9;  ///< bytes a second, each way, of one replica
};

enum class CollectiveAlgorithm {
  ring,  ///< 2 (N - 1) messages of n / N bytes: moves the fewest bytes, but waits for every replica in turn
  tree,  ///< two complementary binary trees: 2 log2 N latencies, and every byte passes twice
};

/// Seconds that an operation takes among `replicas`, each with an interconnect of its own. Ring: Patarasuk and Yuan,
/// "Bandwidth optimal all-reduce algorithms" (2009). Tree: Sanders, Speck and Traeff, "Two-tree algorithms for full
/// bandwidth broadcast, reduction and scan" (2009). Scatters and gathers are rings under either.
double seconds_of(const Operation& operation, int replicas, const Interconnect& interconnect,
                  CollectiveAlgorithm algorithm);

}  // namespace ort_train::runtime
