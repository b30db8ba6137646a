#pragma once

#include <cstddef>

#include "base/data_type.h"

namespace ort_train::runtime {

/// What the replicas of a run do together. Every replica makes the same calls in the same order, with equal counts and
/// types; each call returns when this replica may touch its memory again. `memory` is memory of the replica's device.
/// Sums are taken in an order that depends on the number of replicas only, so that equal runs give equal bits.
class Collective {
 public:
  virtual ~Collective() = default;

  virtual int rank() const = 0;
  virtual int replicas() const = 0;

  /// Element by element, the sum over all replicas, in place.
  virtual void all_reduce(DataType dtype, void* memory, std::size_t count) = 0;
  /// Everyone gets the elements of replica `root`.
  virtual void broadcast(DataType dtype, void* memory, std::size_t count, int root) = 0;
  /// Of the sum over all replicas, replica r gets part r of `replicas()` equal parts of `part_count` elements.
  virtual void reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) = 0;
  /// The parts of all replicas, in the order of their ranks.
  virtual void all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) = 0;
  /// Returns when every replica has called it.
  virtual void barrier() = 0;
};

}  // namespace ort_train::runtime
