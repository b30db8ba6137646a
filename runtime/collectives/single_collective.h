#pragma once

#include <mutex>
#include <string>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/operation.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// The only replica of a run: every sum is there already, and every operation is done when its call returns.
class SingleCollective final : public Collective {
 public:
  int rank() const override { return 0; }
  int replicas() const override { return 1; }
  Ticket all_reduce(DataType dtype, void* memory, std::size_t count) override;
  Ticket broadcast(DataType dtype, void* memory, std::size_t count, int root) override;
  Ticket reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) override;
  Ticket all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) override;
  Ticket barrier() override;
  void wait(Ticket ticket) override;
  void abort(const std::string& reason) noexcept override;
  void throw_if_failed() override;
  double timeout_seconds() const override { return CollectiveOptions().timeout_seconds; }
  Statistics statistics() const override;

 private:
  Ticket carry_out(const Operation& operation);

  mutable std::mutex mutex_;
  Statistics statistics_;
  std::string failure_;
};

}  // namespace ort_train::runtime
