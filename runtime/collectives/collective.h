#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/data_type.h"

namespace ort_train::runtime {

/// What the replicas of a run do together. Every replica makes the same calls in the same order, with equal counts and
/// types; a call starts the operation and returns at once, and the memory belongs to it until `wait` has returned for
/// its ticket. Operations of one replica are carried out one after the other, in the order of the calls. `memory` is
/// memory of the replica's device. Sums are taken in an order that depends on the layout of the replicas only, so that
/// equal runs give equal bits. One thread at a time may use a replica's object; `abort` may come from any thread.
class Collective {
 public:
  using Ticket = std::uint64_t;

  /// What went over the wire since the beginning; for replicas of one process, what their shared memory replaced.
  struct Statistics {
    std::uint64_t operations = 0;
    std::uint64_t messages = 0;       ///< sent by this replica to another process
    std::uint64_t bytes_sent = 0;     ///< by this replica to another process
    std::uint64_t bytes_reduced = 0;  ///< operands of all_reduce and reduce_scatter
    /// Most memory that an operation needed beside the arrays: for sums over the replicas of this process, and for what
    /// other processes sent. Counted by the first replica of a process; see runtime/collectives/scratch.h.
    std::uint64_t partial_bytes = 0, received_bytes = 0;
    bool operator==(const Statistics&) const = default;
  };

  virtual ~Collective() = default;

  virtual int rank() const = 0;
  virtual int replicas() const = 0;

  /// Element by element, the sum over all replicas, in place. Floating-point types, int64 and int32; 16-bit
  /// floats are added in float32 and rounded once.
  virtual Ticket all_reduce(DataType dtype, void* memory, std::size_t count) = 0;
  /// Everyone gets the elements of replica `root`. Any type of fixed size.
  virtual Ticket broadcast(DataType dtype, void* memory, std::size_t count, int root) = 0;
  /// Of the sum over all replicas, replica r gets part r of `replicas()` equal parts of `part_count` elements. `part`
  /// may be that part of the memory itself.
  virtual Ticket reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) = 0;
  /// The parts of all replicas, in the order of their ranks. Any type of fixed size. `part` may lie in its place in
  /// `memory` already.
  virtual Ticket all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) = 0;
  /// Done when every replica has called it.
  virtual Ticket barrier() = 0;

  /// Returns when the operation is done here. Throws an Error when a replica failed (its own message), went away, or
  /// did not come within the time limit (the message names who is missing). After that nothing works any more.
  virtual void wait(Ticket ticket) = 0;

  /// This replica cannot go on: every replica's waiting ends, soon, with an Error that says `reason`. The first reason
  /// is the one that counts. Memory of operations under way may go after `wait` has thrown, not before.
  virtual void abort(const std::string& reason) noexcept = 0;

  /// Throws what `wait` would throw now, without waiting: for those who wait for something else, such as a device.
  virtual void throw_if_failed() = 0;
  /// How long an operation waits for a replica that does not come.
  virtual double timeout_seconds() const = 0;

  virtual Statistics statistics() const = 0;
};

}  // namespace ort_train::runtime
