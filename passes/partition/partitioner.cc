#include "passes/partition/partitioner.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "graph/shape_inference.h"
#include "passes/partition/rows.h"
#include "passes/training_graph.h"

namespace ort_train::passes {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

/// One micro-batch of the replica, and what has been emitted for it.
struct MicroBatch {
  Shard shard;  ///< counted over the whole batch
  std::unordered_map<const Value*, Value*> parts;
  /// Shards of values that the replica has whole, by value and place of the samples.
  std::map<std::tuple<const Value*, std::int64_t, std::int64_t, std::int64_t>, Value*> cuts;
};

/// A sum over the samples, or the rows of all samples, which are the sum of the rows that each replica has, with zeros
/// at all others: what has been added up so far, and over how many micro-batches.
struct Sum {
  Value* value = nullptr;
  std::size_t micro_batches = 0;
  /// Places in the order of the undivided graph: of the node that gives it, and of the first one that reads the result.
  std::int64_t ready = 0, needed = 0;
  /// A micro-batch reads the result.
  bool early = false;
};

class Partitioner {
 public:
  Partitioner(const Graph& whole, const BatchInputs& batch, const Replication& replication)
      : source_(whole),
        analysis_(whole, batch),
        replication_(replication),
        samples_(batch.samples),
        replica_(shard_of(batch.samples, replication.replicas, replication.rank)),
        target_(std::make_unique<Graph>()),
        builder_(*target_) {
    for (std::int64_t k = 0; k < replication.accumulate; ++k) {
      const Shard within = shard_of(replica_.rows, replication.accumulate, k);
      micro_batches_.push_back({{replica_.first + within.first, within.rows}, {}, {}});
    }
  }

  std::unique_ptr<Graph> run() {
    target_->name = source_.name;
    target_->metadata = source_.metadata;
    target_->opsets = source_.opsets;
    for (const Value* input : source_.inputs()) add_input(input);
    for (const Value* value : source_.initializers()) {
      whole_[value] = target_->add_initializer(value->name(), value->role(), value->initial(), value->trainable());
    }
    find_sums();
    for (const Value* input : source_.inputs()) put_in_place(input);
    for (std::size_t k = 0; k < micro_batches_.size(); ++k) emit_micro_batch(k);
    // Also those that only a replica with samples reads.
    for (const Value* value : sums_in_order_) whole(value);
    for (const auto& node : source_.nodes()) {
      if (!analysis_.of(*node).divided()) emit_whole(*node);
    }
    for (const Value* output : source_.outputs()) target_->add_output(graph_output(output));
    for (const graph::Update& update : source_.updates()) add_update(update);
    return std::move(target_);
  }

 private:
  bool is_one_micro_batch() const { return micro_batches_.size() == 1; }

  Dims part_dims(const Value* value, std::int64_t rows) const {
    return extents_of_rows(value->dims(), analysis_.of(value), rows);
  }

  void add_input(const Value* input) {
    const Sharding& sharding = analysis_.of(input);
    Value* added = target_->add_input(input->name(), sharding.is_sharded()
                                                         ? graph::Type(input->dtype(), part_dims(input, replica_.rows))
                                                         : input->type());
    if (!sharding.is_sharded()) {
      whole_[input] = added;
    } else if (is_one_micro_batch()) {
      micro_batches_.front().parts[input] = added;
    } else {
      divided_inputs_[input] = added;
    }
  }

  /// Values whose sum over all samples, or all of whose rows somebody reads.
  void find_sums() {
    std::unordered_map<const Node*, std::int64_t> place;
    for (const auto& node : source_.nodes()) place.emplace(node.get(), static_cast<std::int64_t>(place.size()));
    const auto end = static_cast<std::int64_t>(place.size());
    const auto add = [&](const Value* value, std::int64_t needed) {
      if (!analysis_.of(value).is_partial() && !analysis_.of(value).is_sharded()) return;
      const std::int64_t ready = value->producer() == nullptr ? 0 : place.at(value->producer());
      const auto [sum, added] = sums_.emplace(value, Sum{nullptr, 0, ready, needed});
      if (added) sums_in_order_.push_back(value);
      sum->second.needed = std::min(sum->second.needed, needed);
    };
    for (const auto& node : source_.nodes()) {
      const Decision& decision = analysis_.of(*node);
      for (std::size_t i = 0; i < node->inputs().size(); ++i) {
        const Value* input = node->inputs()[i];
        if (input != nullptr && reads_whole(input, decision.inputs[i])) add(input, place.at(node.get()));
      }
    }
    for (const Value* output : source_.outputs()) {
      if (reads_whole(output, analysis_.of_output(output))) add(output, end);
    }
    for (const graph::Update& update : source_.updates()) add(update.next, end);
    if (!is_one_micro_batch()) order_sums_of_micro_batches(end);
  }

  /// The first micro-batch waits for the sums that it reads, whose parts of all micro-batches are computed first; the
  /// other sums are ready only after the last micro-batch.
  void order_sums_of_micro_batches(std::int64_t end) {
    std::unordered_set<const Value*> read;
    for (auto node = source_.nodes().rbegin(); node != source_.nodes().rend(); ++node) {
      const Decision& decision = analysis_.of(**node);
      const auto& outputs = (*node)->outputs();
      const bool reads = decision.divided() || std::any_of(outputs.begin(), outputs.end(), [&](const Value* output) {
                           return output != nullptr && read.count(output) != 0;
                         });
      if (!reads) continue;
      for (std::size_t i = 0; i < (*node)->inputs().size(); ++i) {
        const Value* input = (*node)->inputs()[i];
        if (input != nullptr && reads_whole(input, decision.inputs[i])) read.insert(input);
      }
    }
    for (auto& [value, sum] : sums_) {
      if (read.count(value) != 0) {
        sum.needed = sum.ready + 1;
        sum.early = true;
      } else {
        sum.ready += end;
        sum.needed += end;
      }
    }
  }

  /// The node reads the whole value, or cuts its rows out of it.
  bool reads_whole(const Value* value, const Sharding& needed) const {
    return needed.is_replicated() || (needed.is_sharded() && analysis_.of(value) != needed);
  }

  void emit_micro_batch(std::size_t k) {
    if (micro_batches_[k].shard.rows == 0) return;
    for (const auto& node : source_.nodes()) {
      if (!analysis_.of(*node).divided()) continue;
      emit_part(*node, k);
      for (const Value* output : node->outputs()) put_in_place(output);
    }
    // At once, so that the parts need not be kept until the last micro-batch is done.
    if (is_one_micro_batch()) return;
    for (const Value* value : sums_in_order_) add_up(value, k + 1);
  }

  // --- values as a node needs them

  Value* as(const Value* value, const Sharding& needed, std::size_t k) {
    if (needed.is_replicated()) return whole(value);
    return reads_whole(value, needed) ? cut_out(value, needed, k) : part(value, k);
  }

  Value* whole(const Value* value) {
    const auto found = whole_.find(value);
    if (found != whole_.end()) return found->second;
    if (analysis_.of(value).is_partial()) return whole_[value] = reduce(value);
    if (analysis_.of(value).is_sharded()) return whole_[value] = gather(value);
    emit_whole(*value->producer());
    return whole_.at(value);
  }

  Value* part(const Value* value, std::size_t k) {
    MicroBatch& micro_batch = micro_batches_[k];
    const auto found = micro_batch.parts.find(value);
    if (found != micro_batch.parts.end()) return found->second;
    if (value->producer() == nullptr) {
      const Shard within{micro_batch.shard.first - replica_.first, micro_batch.shard.rows};
      return micro_batch.parts[value] = rows_of(divided_inputs_.at(value), analysis_.of(value), replica_.rows, within);
    }
    emit_part(*value->producer(), k);
    return micro_batch.parts.at(value);
  }

  Value* cut_out(const Value* value, const Sharding& sharding, std::size_t k) {
    MicroBatch& micro_batch = micro_batches_[k];
    Value*& cut = micro_batch.cuts[{value, sharding.axis, sharding.outer, sharding.inner}];
    if (cut == nullptr) cut = rows_of(whole(value), sharding, samples_, micro_batch.shard);
    return cut;
  }

  /// Some of the `samples` samples that an array of the replica holds.
  Value* rows_of(Value* value, const Sharding& sharding, std::int64_t samples, const Shard& rows) {
    builder_.set_prefix(value->name() + ".rows.");
    return take_rows(builder_, value, sharding, samples, rows);
  }

  // --- sums over the samples

  /// Adds up the parts of the first `count` micro-batches.
  void add_up(const Value* value, std::size_t count) {
    if (analysis_.of(value).is_sharded()) return;
    Sum& sum = sums_.at(value);
    for (; sum.micro_batches < count; ++sum.micro_batches) {
      if (micro_batches_[sum.micro_batches].shard.rows == 0) continue;
      Value* next = part(value, sum.micro_batches);
      builder_.set_prefix(value->name() + ".accumulated.");
      sum.value = sum.value == nullptr ? next : builder_.add(sum.value, next);
    }
  }

  /// Replicas reduce in one order, that of the undivided graph; the last loss is not the first one just because the
  /// backward part begins with it.
  void reduce_what_is_ready_before(const Sum& sum) {
    if (!sum.early) return;
    for (const Value* other : sums_in_order_) {
      const Sum& candidate = sums_.at(other);
      if (candidate.early && candidate.ready < sum.ready) whole(other);
    }
  }

  Value* reduce(const Value* value) {
    reduce_what_is_ready_before(sums_.at(value));
    add_up(value, micro_batches_.size());
    Value* sum = sums_.at(value).value;
    if (sum == nullptr) sum = target_->add_constant(value->name() + ".part", Tensor(value->dtype(), value->dims()));
    if (replication_.replicas > 1) sum = sum_over_replicas(value, sum, value->name() + ".");
    rename(sum, value->name());
    return sum;
  }

  Value* sum_over_replicas(const Value* value, Value* operand, const std::string& prefix) {
    const Sum& places = sums_.at(value);
    builder_.set_prefix(prefix);
    return builder_.emit_training("AllReduce", {operand},
                                  {{"ready", places.ready}, {"needed", places.needed}, {"readers", readers_of(value)}});
  }

  static std::int64_t readers_of(const Value* value) {
    return static_cast<std::int64_t>(value->uses().size()) + (value->is_graph_output() ? 1 : 0);
  }

  // --- the rows of all samples

  /// At once, so that sums that are ready early can be taken together before the first one is read.
  void put_in_place(const Value* value) {
    const auto sum = sums_.find(value);
    const bool waits = !is_one_micro_batch() || replica_.rows == 0;
    if (sum == sums_.end() || waits || !analysis_.of(value).is_sharded()) return;
    if (sum->second.value == nullptr) sum->second.value = rows_in_place(value);
  }

  /// The rows of the replica, with zeros at those of all other replicas.
  Value* rows_in_place(const Value* value) {
    Value* rows = rows_of_micro_batches(value, analysis_.of(value), value->name() + ".whole.");
    if (replication_.replicas == 1) return rows;
    const DataType type = type_of_sum(value->dtype());
    if (type != value->dtype()) rows = builder_.cast(rows, type);
    return put_rows(builder_, rows, analysis_.of(value), samples_, replica_);
  }

  Value* gather(const Value* value) {
    reduce_what_is_ready_before(sums_.at(value));
    Value* rows = sums_.at(value).value;
    if (rows == nullptr && replica_.rows > 0) rows = rows_in_place(value);
    if (replication_.replicas == 1) return rows;
    const DataType type = type_of_sum(value->dtype());
    if (rows == nullptr) rows = target_->add_constant(value->name() + ".whole.part", Tensor(type, value->dims()));
    Value* whole = sum_over_replicas(value, rows, value->name() + ".whole.");
    if (type == value->dtype()) rename(whole, value->name() + ".whole");
    return type == value->dtype() ? whole : builder_.cast(whole, value->dtype());
  }

  Value* rows_of_micro_batches(const Value* value, const Sharding& sharding, const std::string& prefix) {
    std::vector<Value*> parts;
    for (std::size_t k = 0; k < micro_batches_.size(); ++k) {
      if (micro_batches_[k].shard.rows > 0) parts.push_back(as(value, sharding, k));
    }
    builder_.set_prefix(prefix);
    return join_rows(builder_, parts, sharding);
  }

  // --- nodes

  void emit_whole(const Node& node) {
    const Decision& decision = analysis_.of(node);
    for (const Value* output : node.outputs()) {
      if (output != nullptr && whole_.count(output) != 0) return;
    }
    std::vector<Value*> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* input = node.inputs()[i];
      inputs.push_back(input == nullptr ? nullptr : place_of(input, as(input, decision.inputs[i], 0)));
    }
    std::vector<std::string> names;
    for (const Value* output : node.outputs()) names.push_back(output == nullptr ? "" : free_name(output->name()));
    Node* copy = target_->add_node(node.op_type(), node.domain(), inputs, names, node.attributes(), node.name());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (node.outputs()[i] == nullptr) continue;
      copy->outputs()[i]->set_type(node.outputs()[i]->type());
      whole_[node.outputs()[i]] = copy->outputs()[i];
    }
  }

  /// What every replica computes alike must not depend on where its samples begin.
  Value* place_of(const Value* input, Value* value) {
    if (input->name() != first_sample_input) return value;
    builder_.set_prefix("");
    return builder_.constant(Tensor::scalar(std::int64_t{0}));
  }

  void emit_part(const Node& node, std::size_t k) {
    MicroBatch& micro_batch = micro_batches_[k];
    for (const Value* output : node.outputs()) {
      if (output != nullptr && micro_batch.parts.count(output) != 0) return;
    }
    const Decision& decision = analysis_.of(node);
    std::vector<Value*> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* input = node.inputs()[i];
      // A label may have been resolved by a later node than this one.
      const bool open = decision.inputs[i].kind == Sharding::Kind::open;
      inputs.push_back(input == nullptr ? nullptr : as(input, open ? analysis_.of(input) : decision.inputs[i], k));
    }
    Emission emission{node, builder_, inputs, {}, micro_batch.shard, replica_.first, samples_};
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* output = node.outputs()[i];
      emission.output_dims.push_back(output == nullptr ? Dims{} : part_dims(output, micro_batch.shard.rows));
    }
    builder_.set_prefix(part_prefix(node, k));
    const std::vector<Value*> outputs = decision.emit ? decision.emit(emission) : emission.clone();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Value* output = node.outputs()[i];
      if (output == nullptr || outputs[i] == nullptr) continue;
      check(node, *outputs[i], graph::Type(output->dtype(), emission.output_dims[i]));
      rename(outputs[i], part_name(output, k));
      micro_batch.parts[output] = outputs[i];
    }
  }

  std::string part_prefix(const Node& node, std::size_t k) const {
    const Value* first = nullptr;
    for (const Value* output : node.outputs()) first = first == nullptr ? output : first;
    return (first == nullptr ? node.op_type() : part_name(first, k)) + ".";
  }

  std::string part_name(const Value* value, std::size_t k) const {
    std::string name = value->name();
    if (!is_one_micro_batch()) name += text(".", k + 1);
    return analysis_.of(value).is_partial() ? name + ".part" : name;
  }

  static void check(const Node& node, Value& value, const graph::Type& expected) {
    if (!value.type().is_static()) value.set_type(expected);
    if (value.type() == expected) return;
    fail(describe(node), ": for a part of the batch it gives ", to_string(value.type()), " instead of ",
         to_string(expected));
  }

  std::string free_name(const std::string& name) const { return target_->unique_name(name); }

  void rename(Value* value, const std::string& name) {
    if (value->name() != name) target_->rename(value, target_->unique_name(name));
  }

  // --- results

  Value* graph_output(const Value* output) {
    const Sharding wanted = analysis_.of_output(output);
    if (!wanted.is_sharded()) {
      return analysis_.of(output).is_sharded() ? with_name(output, whole(output)) : whole(output);
    }
    const Dims dims = extents_of_rows(output->dims(), wanted, replica_.rows);
    if (replica_.rows == 0) {
      return with_name(output, target_->add_constant(output->name(), Tensor(output->dtype(), dims)));
    }
    Value* rows = rows_of_micro_batches(output, wanted, output->name() + ".");
    return is_one_micro_batch() && !reads_whole(output, wanted) ? rows : with_name(output, rows);
  }

  /// Gives the output its name, which the replica may have given to its own rows of it, or to the whole array.
  Value* with_name(const Value* output, Value* value) {
    if (value->name() == output->name()) return value;
    if (value->producer() == nullptr && !value->is_constant()) value = builder_.emit("Identity", {value});
    if (Value* other = target_->find(output->name())) rename(other, output->name() + ".held");
    rename(value, output->name());
    return value;
  }

  void add_update(const graph::Update& update) {
    if (analysis_.of(update.next).kind == Sharding::Kind::local) {
      fail("the state '", update.state->name(), "' would take a value that is ", describe(analysis_.of(update.next)),
           "; its update cannot be divided");
    }
    target_->add_update(whole_.at(update.state), whole(update.next));
  }

  const Graph& source_;
  PartitionAnalysis analysis_;
  const Replication& replication_;
  std::int64_t samples_;
  Shard replica_;
  std::unique_ptr<Graph> target_;
  Builder builder_;
  std::vector<MicroBatch> micro_batches_;
  std::unordered_map<const Value*, Value*> whole_, divided_inputs_;
  std::unordered_map<const Value*, Sum> sums_;
  std::vector<const Value*> sums_in_order_;
};

}  // namespace

std::unique_ptr<Graph> partition(const Graph& whole, const BatchInputs& batch, const Replication& replication) {
  return Partitioner(whole, batch, replication).run();
}

}  // namespace ort_train::passes
