#pragma once

#include <memory>
#include <utility>

#include "runtime/collectives/collective.h"
#include "runtime/cpu/kernel.h"
#include "runtime/planning/bucket_operation.h"

namespace ort_train::runtime::cpu {

/// An instruction that the replicas carry out together. `run` only starts it; what it reads or writes after that are
/// the awaited arrays, which belong to it until `wait` has returned. Row-major arrays only: blocked layouts may differ
/// between replicas.
class CollectiveKernel : public Kernel, private planning::ReplicaLink {
 public:
  explicit CollectiveKernel(const Request& request);

  const planning::BucketOperation& operation() const { return *operation_; }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override;
  /// The kernel must outlive it.
  std::unique_ptr<Kernel> make_wait() override;
  /// Returns when the outputs hold their elements; at once when nothing was started. Throws what the collective throws.
  void wait();
  /// The same after an error: whatever was started has ended when it returns, and the outputs hold anything.
  void drain() noexcept;

 private:
  int replicas() const override { return collective_.replicas(); }
  void copy(const std::byte* source, std::byte* target, std::size_t bytes) override;
  void clear(std::byte* memory, std::size_t bytes) override;
  void all_reduce(DataType dtype, std::byte* memory, std::size_t count) override;
  void reduce_scatter(DataType dtype, const std::byte* memory, std::byte* part, std::size_t part_count) override;
  void all_gather(DataType dtype, const std::byte* part, std::byte* memory, std::size_t part_count) override;

  Collective& collective_;
  std::unique_ptr<planning::BucketOperation> operation_;
  Pointers pointers_;
  bool started_ = false;
  Collective::Ticket ticket_ = 0;
};

}  // namespace ort_train::runtime::cpu
