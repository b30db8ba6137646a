#include "runtime/collectives/launcher.h"

#include <cstdlib>

namespace ort_train::runtime {

namespace {

std::optional<int> number(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value) return std::nullopt;
  char* end = nullptr;
  const long parsed = std::strtol(value, &end, 10);
  return end != value && *end == '\0' ? std::optional<int>(static_cast<int>(parsed)) : std::nullopt;
}

}  // namespace

std::optional<Launch> find_launch() {
  // Open MPI's mpirun; MPICH's mpiexec and srun --mpi=pmi2; srun --mpi=pmix, where Slurm tells the number.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const auto processes = number(variable)) return Launch{variable, processes};
  }
  for (const char* variable : {"PMIX_RANK", "PMI_RANK"}) {
    if (number(variable)) return Launch{variable, number("SLURM_STEP_NUM_TASKS")};
  }
  return std::nullopt;
}

}  // namespace ort_train::runtime
