#include "runtime/collectives/group.h"

#include <exception>

#include "base/error.h"
#include "runtime/collectives/local_group.h"
#include "runtime/collectives/process_exchange.h"
#include "runtime/collectives/replica_collective.h"
#include "runtime/collectives/single_collective.h"

namespace ort_train::runtime {

namespace {

void check(const Layout& layout, const CollectiveOptions& options) {
  if (layout.processes < 1 || layout.replicas_per_process < 1 || layout.process < 0 ||
      layout.process >= layout.processes) {
    fail_usage("no replicas can be laid out as ", layout.processes, " processes of ", layout.replicas_per_process,
               " replicas, of which this is process ", layout.process);
  }
  if (!(options.timeout_seconds > 0) || !(options.silence_seconds > 0)) {
    fail_usage("the time limits of the communication between replicas must be positive numbers of seconds, not ",
               options.timeout_seconds, " and ", options.silence_seconds);
  }
}

}  // namespace

std::vector<std::unique_ptr<Collective>> make_collectives(const Layout& layout, CollectiveOptions options) {
  check(layout, options);
  std::vector<std::unique_ptr<Collective>> collectives;
  if (layout.replicas() == 1) {
    collectives.push_back(std::make_unique<SingleCollective>());
    return collectives;
  }
  const auto group = std::make_shared<LocalGroup>(layout, options);
  if (layout.processes > 1) {
    LocalGroup& local = *group;
    group->connect(make_process_exchange(layout, options, [&local] { local.throw_if_failed(); }));
  }
  try {
    for (int local = 0; local < layout.replicas_per_process; ++local) {
      collectives.push_back(std::make_unique<ReplicaCollective>(group, local));
    }
  } catch (const std::exception& error) {
    group->fail(text("no thread for a replica: ", error.what()));
    throw;
  }
  return collectives;
}

}  // namespace ort_train::runtime
