#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/local_group.h"
#include "runtime/collectives/operation.h"

namespace ort_train::runtime {

/// A replica with partners. Its communication thread carries out the calls one after the other, while the caller goes
/// on computing.
class ReplicaCollective final : public Collective {
 public:
  ReplicaCollective(std::shared_ptr<LocalGroup> group, int local);
  /// Operations that nobody waited for make it a failure: their memory may be gone.
  ~ReplicaCollective() override;

  int rank() const override;
  int replicas() const override;
  Ticket all_reduce(DataType dtype, void* memory, std::size_t count) override;
  Ticket broadcast(DataType dtype, void* memory, std::size_t count, int root) override;
  Ticket reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) override;
  Ticket all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) override;
  Ticket barrier() override;
  void wait(Ticket ticket) override;
  void abort(const std::string& reason) noexcept override;
  void throw_if_failed() override;
  double timeout_seconds() const override;
  Statistics statistics() const override;

 private:
  Ticket start(const Operation& operation);
  bool next(Operation& operation);
  void complete(const Operation& operation);
  void run();
  /// After the last operation: the first replica tells the other processes how it ended.
  void take_leave();

  const std::shared_ptr<LocalGroup> group_;
  const int local_;

  // Guarded by the mutex of the group.
  std::deque<Operation> waiting_;
  Ticket given_ = 0, done_ = 0;
  bool closing_ = false;
  Statistics statistics_;

  std::thread thread_;
};

}  // namespace ort_train::runtime
