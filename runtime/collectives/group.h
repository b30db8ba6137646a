#pragma once

#include <memory>
#include <vector>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/layout.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// One Collective for each replica of this process, in the order of their ranks. A single replica needs no partner and
/// no thread; replicas of one process meet in shared memory; with several processes, which must have been joined
/// (runtime/collectives/processes.h), the replicas of a process add up first, and one of them talks to the other
/// processes. The objects may be destroyed in any order and from any thread; after a clean run that waits for the
/// other processes to do the same. Only one group at a time may exist between processes.
std::vector<std::unique_ptr<Collective>> make_collectives(const Layout& layout, CollectiveOptions options = {});

}  // namespace ort_train::runtime
