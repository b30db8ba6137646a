#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shard.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "passes/partition/sharding.h"

namespace ort_train::passes {

/// What is at hand while the part of a node for one shard is emitted.
struct Emission {
  const graph::Node& whole;           ///< the node of the undivided graph
  graph::Builder& builder;            ///< appends to the graph of one replica
  std::vector<graph::Value*> inputs;  ///< this shard's, in the shardings that the rule asked for
  std::vector<Dims> output_dims;      ///< the extents that the outputs must have
  Shard shard;                        ///< its samples, counted over the whole batch
  std::int64_t first_of_replica = 0;  ///< the first sample of the replica, which the shard is a part of
  std::int64_t samples = 0;           ///< in the whole batch

  /// The node itself with other inputs and attributes; its outputs.
  std::vector<graph::Value*> clone(graph::Attributes attributes) const;
  std::vector<graph::Value*> clone() const { return clone(whole.attributes()); }
};

/// Emits the nodes for one shard and returns their outputs, null where the node leaves one out.
using Emitter = std::function<std::vector<graph::Value*>(Emission&)>;

/// What a rule decides about one node: how it needs its inputs, how its outputs come out, and, where the node with
/// other inputs will not do, which nodes take its place.
struct Decision {
  std::vector<Sharding> inputs, outputs;
  Emitter emit;

  /// The node works on shards; otherwise it is computed once, alike on every replica.
  bool divided() const;
};

/// Why a node cannot work on shards: then it is computed from whole arrays, alike on every replica.
struct CannotDivide {
  std::string reason;
};

/// What a partition rule sees of a node, and where it writes its decision.
class PartitionContext {
 public:
  PartitionContext(const graph::Node& node, std::vector<Sharding> inputs, std::int64_t samples);

  const graph::Node& node() const { return node_; }
  std::int64_t samples() const { return samples_; }
  bool has_input(int index) const { return node_.input(index) != nullptr; }
  /// How input number `index` lies before this node; a left-out one counts as replicated.
  Sharding input(int index) const;
  Dims input_dims(int index) const { return node_.input(index)->dims(); }
  Dims output_dims(int index = 0) const { return node_.output(index)->dims(); }
  /// The elements of a constant input. Refuses to divide the node when it is computed.
  std::vector<std::int64_t> constant_input(int index) const;

  bool any_sharded() const;

  /// The node needs this input otherwise than it lies: a sum over the replicas is reduced, of an array that all have a
  /// shard takes its part, and of a sharded one all rows are gathered, and cut where they are needed along another
  /// axis. Refuses to divide the node where that cannot be done.
  void need(int index, const Sharding& sharding);
  void need_replicated(int index) { need(index, Sharding::replicated()); }
  void need_all_replicated();
  void give(int output, const Sharding& sharding);
  void give_all(const Sharding& sharding);
  void emit_by(Emitter emit) { decision_.emit = std::move(emit); }

  /// Throws CannotDivide.
  [[noreturn]] void refuse(const std::string& reason) const;

  const Decision& decision() const { return decision_; }

 private:
  const graph::Node& node_;
  std::vector<Sharding> lying_;
  std::int64_t samples_;
  Decision decision_;
};

/// Decides how one operator works on a divided batch. It is asked only when an input is sharded, partial or local.
using PartitionRule = void (*)(PartitionContext&);

/// How a node lies whose inputs lie so: as its rule says, or computed from whole arrays where there is none, or it
/// refuses. Throws an Error that names the node when not even that can be done.
Decision decide_partition(const graph::Node& node, const std::vector<Sharding>& inputs, std::int64_t samples);

/// Null when there is none: then the operator works only on arrays that every replica has whole.
PartitionRule find_partition_rule(std::string_view op_type, std::string_view domain = "");

/// Declares a rule at namespace scope.
class PartitionRegistration {
 public:
  PartitionRegistration(const std::vector<std::string>& op_types, PartitionRule rule, std::string_view domain = "");
};

}  // namespace ort_train::passes
