#pragma once

#include <optional>
#include <string>

namespace ort_train::runtime {

/// What a launcher of MPI programs (mpirun, mpiexec, srun) wrote into the environment of this process.
struct Launch {
  std::string variable;          ///< by which it was recognized
  std::optional<int> processes;  ///< how many it started, where it says so
};

/// Nothing when this process was started on its own.
std::optional<Launch> find_launch();

}  // namespace ort_train::runtime
