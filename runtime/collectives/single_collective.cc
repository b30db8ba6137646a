#include "runtime/collectives/single_collective.h"

#include <cstring>

#include "base/error.h"

namespace ort_train::runtime {

Collective::Ticket SingleCollective::carry_out(const Operation& operation) {
  check_operation(operation, replicas());
  const std::lock_guard lock(mutex_);
  if (failure_.empty() && operation.count > 0 && operation.input != operation.output) {
    std::memcpy(operation.output, operation.input, operation.count * size_of(operation.dtype));
  }
  if (operation.kind == OperationKind::all_reduce || operation.kind == OperationKind::reduce_scatter) {
    statistics_.bytes_reduced += operation.count * size_of(operation.dtype);
  }
  return ++statistics_.operations;
}

Collective::Ticket SingleCollective::all_reduce(DataType dtype, void* memory, std::size_t count) {
  return carry_out({OperationKind::all_reduce, dtype, count, 0, memory, memory});
}

Collective::Ticket SingleCollective::broadcast(DataType dtype, void* memory, std::size_t count, int root) {
  return carry_out({OperationKind::broadcast, dtype, count, root, memory, memory});
}

Collective::Ticket SingleCollective::reduce_scatter(DataType dtype, const void* memory, void* part,
                                                    std::size_t part_count) {
  return carry_out({OperationKind::reduce_scatter, dtype, part_count, 0, memory, part});
}

Collective::Ticket SingleCollective::all_gather(DataType dtype, const void* part, void* memory,
                                                std::size_t part_count) {
  return carry_out({OperationKind::all_gather, dtype, part_count, 0, part, memory});
}

Collective::Ticket SingleCollective::barrier() { return carry_out({}); }

void SingleCollective::wait(Ticket ticket) {
  throw_if_failed();
  const std::lock_guard lock(mutex_);
  if (ticket > statistics_.operations) fail("there is no operation ", ticket, " to wait for");
}

void SingleCollective::throw_if_failed() {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw Error(failure_);
}

void SingleCollective::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = text("replica 0 failed: ", reason);
}

Collective::Statistics SingleCollective::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace ort_train::runtime
