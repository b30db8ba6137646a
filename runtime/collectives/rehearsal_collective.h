#pragma once

#include <vector>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/operation.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// One of several replicas without the others, to plan and to time what it does by itself: operations are noted and
/// done at once. A sum is what this replica has, and so are all parts that others would send.
class RehearsalCollective final : public Collective {
 public:
  RehearsalCollective(int rank, int replicas) : rank_(rank), replicas_(replicas) {}

  int rank() const override { return rank_; }
  int replicas() const override { return replicas_; }
  Ticket all_reduce(DataType dtype, void* memory, std::size_t count) override;
  Ticket broadcast(DataType dtype, void* memory, std::size_t count, int root) override;
  Ticket reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) override;
  Ticket all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) override;
  Ticket barrier() override;
  void wait(Ticket ticket) override;
  void abort(const std::string& reason) noexcept override;
  void throw_if_failed() override {}
  double timeout_seconds() const override { return CollectiveOptions().timeout_seconds; }
  Statistics statistics() const override;

  /// In the order of the calls; their memory is not to be looked at.
  const std::vector<Operation>& operations() const { return operations_; }
  void forget() { operations_.clear(); }

 private:
  Ticket note(const Operation& operation);

  int rank_, replicas_;
  std::vector<Operation> operations_;
};

}  // namespace ort_train::runtime
