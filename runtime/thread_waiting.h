#pragma once

namespace ort_train::runtime {

/// Lets the threads of a parallel loop sleep instead of spin while they wait for work: on a machine with anything else
/// to do that is up to a third faster. The OpenMP runtime reads its settings before `main` starts, so the program is
/// started once more under OMP_WAIT_POLICY=passive. Does nothing when the user has set OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT, and returns when the restart is not possible. To be called first in `main`, with its `argv`.
void prefer_sleeping_threads(char** arguments);

}  // namespace ort_train::runtime
