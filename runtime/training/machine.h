#pragma once

#include <memory>

#include "runtime/executable.h"
#include "runtime/training/config.h"

namespace ort_train::training {

/// Threads that a replica computes with: `threads`, or the cores that the process may use, divided among the replicas
/// of this machine; at least one.
int threads_of_replica(const TrainingConfig& config);

/// Where the replica number `local` of this process computes: a GPU, or its share of the cores. Processes that a
/// launcher starts on one machine take the GPUs one after the other, where each sees them all.
std::unique_ptr<runtime::Device> make_device(const TrainingConfig& config, int local);

}  // namespace ort_train::training
