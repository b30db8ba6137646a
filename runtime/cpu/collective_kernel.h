#pragma once

#include <memory>
#include <utility>

#include "runtime/collectives/collective.h"
#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// An instruction that the replicas carry out together. `run` only starts it; what it reads or writes after that are
/// the arrays of `awaited`, which belong to it until `wait` has returned. Row-major arrays only: blocked layouts may
/// differ between replicas.
class CollectiveKernel : public Kernel {
 public:
  explicit CollectiveKernel(Collective& collective) : collective_(collective) { name = "collective"; }

  /// What a run adds to Collective::Statistics::bytes_reduced.
  std::size_t reduced_bytes = 0;
  /// Memory that it needs to join its operands and to take their parts apart.
  std::size_t bucket_bytes = 0;

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() final;
  /// The kernel must outlive it.
  std::unique_ptr<Kernel> make_wait() override;
  /// Returns when the outputs hold their elements; at once when nothing was started. Throws what the collective throws.
  void wait();
  /// The same after an error: whatever was started has ended when it returns, and the outputs hold anything.
  void drain() noexcept;

 protected:
  using Ticket = Collective::Ticket;

  /// Begins the operation.
  virtual Ticket start() = 0;
  /// Puts the result where it belongs.
  virtual void finish() {}

  Collective& collective_;
  Pointers pointers_;

 private:
  bool started_ = false;
  Ticket ticket_ = 0;
};

}  // namespace ort_train::runtime::cpu
