#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/layout.h"
#include "runtime/collectives/operation.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// What the processes of a run do together, each with the sum over its own replicas. One thread uses it: the
/// communication thread of the process's first replica. Every call throws an Error as soon as any process or, through
/// `interrupt`, this one has failed.
class ProcessExchange {
 public:
  virtual ~ProcessExchange() = default;

  /// `operation` is the call of the replicas; its memory is not looked at.
  /// The sum over the processes of `operation.count` elements. `partial` has partial_type() and may be `result`.
  virtual void all_reduce(const Operation& operation, const void* partial, void* result) = 0;
  /// `memory` of the process of the root to every process.
  virtual void broadcast(const Operation& operation, void* memory) = 0;
  /// `partial` is all parts of all replicas, of partial_type(); `result` gets the parts of this process's replicas.
  virtual void reduce_scatter(const Operation& operation, const void* partial, void* result) = 0;
  /// `memory` is all parts of all replicas; those of this process's replicas are in their place.
  virtual void all_gather(const Operation& operation, void* memory) = 0;
  virtual void barrier(const Operation& operation) = 0;

  /// To be called ten times a second between operations: gives and takes signs of life.
  virtual void poll() = 0;
  /// Tells the other processes why this one fails, unless they told it. Takes a second at most.
  virtual void tell_failure(const std::string& sentence) noexcept = 0;
  /// Takes leave of the other processes and waits until they do the same.
  virtual void close() noexcept = 0;

  /// Messages and bytes sent since the beginning, and the memory for what is received.
  virtual Collective::Statistics sent() const = 0;
};

/// Needs processes that were joined (Processes). `interrupt` is called while it waits, and throws to end that.
std::unique_ptr<ProcessExchange> make_process_exchange(const Layout& layout, const CollectiveOptions& options,
                                                       std::function<void()> interrupt);

}  // namespace ort_train::runtime
