#include "runtime/training/machine.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "runtime/cores.h"

namespace ort_train::training {
namespace {

std::int64_t cores_of_machine() { return std::max(1U, std::thread::hardware_concurrency()); }

/// What the launcher says of the processes that share this machine.
std::int64_t processes_of_machine() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE"}) {
    if (const char* value = std::getenv(variable)) return std::max(1L, std::strtol(value, nullptr, 10));
  }
  return 1;
}

}  // namespace

int threads_of_replica(const TrainingConfig& config) {
  std::int64_t cores = config.threads;
  if (cores == 0) {
    cores = runtime::usable_cores();
    // A launcher may have bound each process to cores of its own; where it has not, they share.
    if (config.processes > 1 && cores == cores_of_machine())
      cores /= std::min<std::int64_t>(processes_of_machine(), cores);
  }
  return static_cast<int>(std::max<std::int64_t>(1, cores / config.replicas));
}

}  // namespace ort_train::training
