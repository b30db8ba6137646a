#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/data_type.h"
#include "graph/graph.h"
#include "runtime/planning/kernel.h"

namespace ort_train::runtime::planning {

/// What one kernel needs to work with the other replicas: copies in the order of its device, and one operation at a
/// time. Operations only start here; see Collective for what they do.
class ReplicaLink {
 public:
  virtual ~ReplicaLink() = default;
  virtual int replicas() const = 0;
  virtual void copy(const std::byte* source, std::byte* target, std::size_t bytes) = 0;
  virtual void clear(std::byte* memory, std::size_t bytes) = 0;
  virtual void all_reduce(DataType dtype, std::byte* memory, std::size_t count) = 0;
  virtual void reduce_scatter(DataType dtype, const std::byte* memory, std::byte* part, std::size_t part_count) = 0;
  virtual void all_gather(DataType dtype, const std::byte* part, std::byte* memory, std::size_t part_count) = 0;
};

/// AllReduce, ReduceScatter or AllGather of a node with any number of operands as one operation on one bucket: the
/// operands lie one after the other in one array, and the gaps between them hold zeros. All arrays are row-major.
class BucketOperation {
 public:
  virtual ~BucketOperation() = default;

  /// Memory that it needs besides the node's inputs and outputs, as outputs that follow the node's; in elements.
  std::vector<std::int64_t> own_memory;
  /// See Kernel.
  std::vector<Slot> input_slots, output_slots;
  std::vector<int> awaited;
  /// What a run adds to Collective::Statistics::bytes_reduced.
  std::size_t reduced_bytes = 0;
  /// Memory that joins its operands and takes their parts apart.
  std::size_t bucket_bytes = 0;

  virtual void start(const Pointers& pointers, ReplicaLink& link) = 0;
  /// Puts the result where it belongs, when it is there.
  virtual void finish(const Pointers&, ReplicaLink&) {}
};

/// Throws when the extents do not fit as many replicas.
std::unique_ptr<BucketOperation> make_bucket_operation(const graph::Node& node, int replicas);

}  // namespace ort_train::runtime::planning
