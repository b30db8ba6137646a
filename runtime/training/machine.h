#pragma once

#include "runtime/training/config.h"

namespace ort_train::training {

/// Threads that a replica computes with: `threads`, or the cores that the process may use, divided among the replicas
/// of this machine; at least one.
int threads_of_replica(const TrainingConfig& config);

}  // namespace ort_train::training
