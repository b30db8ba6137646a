#include "runtime/thread_waiting.h"

#include <unistd.h>

#include <cstdlib>

namespace ort_train::runtime {

void prefer_sleeping_threads(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 0) != 0) return;
  execv("/proc/self/exe", arguments);
}

}  // namespace ort_train::runtime
