#pragma once

namespace ort_train::runtime {

/// How the replicas of a run are spread: every process has equally many, and ranks count through the processes.
struct Layout {
  int processes = 1;             ///< in the whole run
  int process = 0;               ///< which of them this one is
  int replicas_per_process = 1;  ///< threads of this process that train

  int replicas() const { return processes * replicas_per_process; }
  int first_replica() const { return process * replicas_per_process; }
  int process_of(int replica) const { return replica / replicas_per_process; }
  bool operator==(const Layout&) const = default;
};

}  // namespace ort_train::runtime
