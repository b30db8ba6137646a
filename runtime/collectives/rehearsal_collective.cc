#include "runtime/collectives/rehearsal_collective.h"

#include <cstring>

#include "runtime/collectives/layout.h"
#include "runtime/collectives/traffic.h"

namespace ort_train::runtime {

namespace {

void copy_elements(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
}

}  // namespace

Collective::Ticket RehearsalCollective::note(const Operation& operation) {
  check_operation(operation, replicas_);
  operations_.push_back(operation);
  return operations_.size();
}

Collective::Ticket RehearsalCollective::all_reduce(DataType dtype, void* memory, std::size_t count) {
  return note({OperationKind::all_reduce, dtype, count, 0, memory, memory});
}

Collective::Ticket RehearsalCollective::broadcast(DataType dtype, void* memory, std::size_t count, int root) {
  return note({OperationKind::broadcast, dtype, count, root, memory, memory});
}

Collective::Ticket RehearsalCollective::reduce_scatter(DataType dtype, const void* memory, void* part,
                                                       std::size_t part_count) {
  const std::size_t bytes = part_count * size_of(dtype);
  copy_elements(part, static_cast<const std::byte*>(memory) + static_cast<std::size_t>(rank_) * bytes, bytes);
  return note({OperationKind::reduce_scatter, dtype, part_count, 0, memory, part});
}

Collective::Ticket RehearsalCollective::all_gather(DataType dtype, const void* part, void* memory,
                                                   std::size_t part_count) {
  const std::size_t bytes = part_count * size_of(dtype);
  for (int rank = 0; rank < replicas_; ++rank) {
    copy_elements(static_cast<std::byte*>(memory) + static_cast<std::size_t>(rank) * bytes, part, bytes);
  }
  return note({OperationKind::all_gather, dtype, part_count, 0, part, memory});
}

Collective::Ticket RehearsalCollective::barrier() { return note({}); }

void RehearsalCollective::wait(Ticket) {}

void RehearsalCollective::abort(const std::string&) noexcept {}

Collective::Statistics RehearsalCollective::statistics() const {
  Statistics sum;
  for (const Operation& operation : operations_) sum += traffic_of(operation, Layout{1, 0, replicas_}, rank_);
  return sum;
}

}  // namespace ort_train::runtime
