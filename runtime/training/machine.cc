#include "runtime/training/machine.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "runtime/cores.h"
#include "runtime/cuda/device.h"

namespace ort_train::training {
namespace {

std::int64_t cores_of_machine() { return std::max(1U, std::thread::hardware_concurrency()); }

/// The first of these environment variables that is set.
std::int64_t number_in(std::initializer_list<const char*> variables, std::int64_t otherwise) {
  for (const char* variable : variables) {
    if (const char* value = std::getenv(variable)) return std::strtol(value, nullptr, 10);
  }
  return otherwise;
}

/// What the launcher says of the processes that share this machine, and which of them this one is.
std::int64_t processes_of_machine() {
  const std::int64_t count = number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE"}, 1);
  return std::max<std::int64_t>(1, count);
}
std::int64_t process_of_machine() {
  return number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, 0);
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

std::unique_ptr<runtime::Device> make_device(const TrainingConfig& config, int local) {
  if (config.gpus.empty()) return runtime::make_cpu_device(threads_of_replica(config));
  std::int64_t gpu = config.gpus.at(static_cast<std::size_t>(local));
  if (config.processes > 1) {
    const int visible = runtime::cuda_device_count();
    const std::int64_t own = config.gpus.back() + 1;
    // A launcher may have given each process GPUs of its own; where it has not, they share.
    if (visible >= own * processes_of_machine()) gpu += own * process_of_machine();
  }
  runtime::CudaOptions options;
  options.tf32 = config.tf32;
  options.capture = config.cuda_graph;
  return runtime::make_cuda_device(static_cast<int>(gpu), options);
}

}  // namespace ort_train::training
