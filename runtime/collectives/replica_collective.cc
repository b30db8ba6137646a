#include "runtime/collectives/replica_collective.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "runtime/collectives/carry_out.h"

namespace ort_train::runtime {

ReplicaCollective::ReplicaCollective(std::shared_ptr<LocalGroup> group, int local)
    : group_(std::move(group)), local_(local), thread_([this] { run(); }) {}

ReplicaCollective::~ReplicaCollective() {
  std::string unfinished;
  {
    const std::lock_guard lock(group_->mutex());
    closing_ = true;
    if (done_ < given_) unfinished = text("replica ", rank(), " left before its operations were done");
    group_->work(local_).notify_all();
  }
  if (!unfinished.empty()) group_->fail(unfinished);
  thread_.join();
}

int ReplicaCollective::rank() const { return group_->layout().first_replica() + local_; }

int ReplicaCollective::replicas() const { return group_->layout().replicas(); }

Collective::Ticket ReplicaCollective::start(const Operation& operation) {
  check_operation(operation, replicas());
  const std::lock_guard lock(group_->mutex());
  waiting_.push_back(operation);
  group_->work(local_).notify_all();
  return ++given_;
}

Collective::Ticket ReplicaCollective::all_reduce(DataType dtype, void* memory, std::size_t count) {
  return start({OperationKind::all_reduce, dtype, count, 0, memory, memory});
}

Collective::Ticket ReplicaCollective::broadcast(DataType dtype, void* memory, std::size_t count, int root) {
  return start({OperationKind::broadcast, dtype, count, root, memory, memory});
}

Collective::Ticket ReplicaCollective::reduce_scatter(DataType dtype, const void* memory, void* part,
                                                     std::size_t part_count) {
  return start({OperationKind::reduce_scatter, dtype, part_count, 0, memory, part});
}

Collective::Ticket ReplicaCollective::all_gather(DataType dtype, const void* part, void* memory,
                                                 std::size_t part_count) {
  return start({OperationKind::all_gather, dtype, part_count, 0, part, memory});
}

Collective::Ticket ReplicaCollective::barrier() { return start({}); }

void ReplicaCollective::wait(Ticket ticket) {
  std::unique_lock lock(group_->mutex());
  if (ticket > given_) fail("replica ", rank(), " has no operation ", ticket, " to wait for");
  // After a failure the threads may still read this replica's memory: not before they have stopped may it go.
  group_->done(local_).wait(lock, [&] { return group_->failed() ? group_->quiet() : done_ >= ticket; });
  lock.unlock();
  group_->throw_if_failed();
}

void ReplicaCollective::abort(const std::string& reason) noexcept {
  try {
    group_->fail(text("replica ", rank(), " failed: ", reason));
  } catch (const std::exception&) {
    group_->fail("a replica failed");
  }
}

void ReplicaCollective::throw_if_failed() { group_->throw_if_failed(); }

double ReplicaCollective::timeout_seconds() const { return group_->options().timeout_seconds; }

Collective::Statistics ReplicaCollective::statistics() const {
  const std::lock_guard lock(group_->mutex());
  return statistics_;
}

bool ReplicaCollective::next(Operation& operation) {
  using namespace std::chrono_literals;
  std::unique_lock lock(group_->mutex());
  const auto ready = [this] { return !waiting_.empty() || closing_ || group_->failed(); };
  ProcessExchange* exchange = local_ == 0 ? group_->exchange() : nullptr;
  while (exchange && !group_->work(local_).wait_for(lock, 100ms, ready)) {
    lock.unlock();
    exchange->poll();
    lock.lock();
  }
  group_->work(local_).wait(lock, ready);
  if (group_->failed() || waiting_.empty()) return false;
  operation = waiting_.front();
  waiting_.pop_front();
  return true;
}

void ReplicaCollective::complete(const Operation& operation) {
  const std::lock_guard lock(group_->mutex());
  ++done_;
  statistics_.operations += 1;
  if (operation.kind == OperationKind::all_reduce) {
    statistics_.bytes_reduced += operation.count * size_of(operation.dtype);
  } else if (operation.kind == OperationKind::reduce_scatter) {
    statistics_.bytes_reduced += operation.count * size_of(operation.dtype) * static_cast<std::uint64_t>(replicas());
  }
  if (local_ == 0 && group_->exchange()) {
    const Statistics sent = group_->exchange()->sent();
    statistics_.messages = sent.messages;
    statistics_.bytes_sent = sent.bytes_sent;
    statistics_.received_bytes = sent.received_bytes;
    statistics_.partial_bytes = group_->scratch().capacity();
  }
  group_->done(local_).notify_all();
}

void ReplicaCollective::run() {
  try {
    for (Operation operation; next(operation); complete(operation)) carry_out(*group_, local_, operation);
  } catch (const std::exception& error) {
    group_->fail(error.what());
  }
  take_leave();
}

void ReplicaCollective::take_leave() {
  ProcessExchange* exchange = local_ == 0 ? group_->exchange() : nullptr;
  if (exchange && !group_->failed()) exchange->close();
  if (exchange && group_->failed()) exchange->tell_failure(group_->failure());
  group_->stop(local_, !group_->failed());
}

}  // namespace ort_train::runtime
