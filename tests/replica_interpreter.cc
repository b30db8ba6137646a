#include "tests/replica_interpreter.h"

#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "kernels/kernel.h"
#include "passes/collectives.h"

namespace ort_train::tests {

namespace {

/// One replica on its way through its graph.
class Replica {
 public:
  Replica(const graph::Graph& graph, const std::map<std::string, Tensor>& feeds)
      : graph_(graph), feeds_(feeds), next_(graph.nodes().begin()) {}

  /// Goes on to the next collective node and returns it; null at the end.
  const graph::Node* advance() {
    for (; next_ != graph_.nodes().end(); ++next_) {
      const graph::Node& node = **next_;
      if (passes::is_collective(node)) return &node;
      set_outputs(node, kernels::evaluate(node, inputs_of(node)));
    }
    return nullptr;
  }

  std::vector<Tensor> inputs_of(const graph::Node& node) const {
    std::vector<Tensor> inputs;
    for (const graph::Value* input : node.inputs()) inputs.push_back(value_of(input));
    return inputs;
  }

  void finish_collective(const std::vector<Tensor>& outputs) {
    set_outputs(**next_, outputs);
    ++next_;
  }

  std::map<std::string, Tensor> results() const {
    std::map<std::string, Tensor> results;
    for (const graph::Value* output : graph_.outputs()) results[output->name()] = value_of(output);
    for (const graph::Update& update : graph_.updates()) results[update.state->name()] = value_of(update.next);
    return results;
  }

 private:
  Tensor value_of(const graph::Value* value) const {
    if (value == nullptr) return {};
    if (const auto found = values_.find(value); found != values_.end()) return found->second;
    if (const auto fed = feeds_.find(value->name()); fed != feeds_.end()) return fed->second;
    if (value->is_initializer()) return value->initial();
    fail("the input '", value->name(), "' was not fed");
  }

  void set_outputs(const graph::Node& node, const std::vector<Tensor>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs()[i] != nullptr) values_[node.outputs()[i]] = outputs[i];
    }
  }

  const graph::Graph& graph_;
  const std::map<std::string, Tensor>& feeds_;
  std::list<std::unique_ptr<graph::Node>>::const_iterator next_;
  std::unordered_map<const graph::Value*, Tensor> values_;
};

Tensor sum_of(const std::vector<Tensor>& parts) {
  std::vector<double> sum(static_cast<std::size_t>(parts.front().size()));
  for (const Tensor& part : parts) {
    const std::vector<double> values = part.to_doubles();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values.at(i);
  }
  return Tensor::of(parts.front().dims(), sum).cast(parts.front().dtype());
}

/// Elements [begin, begin + count) in row-major order, zeros beyond the end.
Tensor flat_range(const Tensor& whole, std::int64_t begin, std::int64_t count) {
  std::vector<double> values = whole.to_doubles();
  values.resize(static_cast<std::size_t>(begin + count));
  return Tensor::of({count}, std::vector<double>(values.begin() + begin, values.end())).cast(whole.dtype());
}

Tensor joined(const std::vector<Tensor>& parts, const Dims& dims) {
  std::vector<double> values;
  for (const Tensor& part : parts) {
    for (const double value : part.to_doubles()) values.push_back(value);
  }
  values.resize(static_cast<std::size_t>(element_count(dims)));
  return Tensor::of(dims, values).cast(parts.front().dtype());
}

/// Result `index` of the collective for replica `rank`, from the operands of all replicas.
Tensor result_of(const graph::Node& node, std::size_t index, std::size_t rank, const std::vector<Tensor>& operands) {
  if (node.op_type() == "AllReduce") return sum_of(operands);
  const graph::Value* output = node.outputs()[index];
  if (node.op_type() == "AllGather") return joined(operands, output->dims());
  const std::int64_t count = output->dims().at(0);
  return flat_range(sum_of(operands), static_cast<std::int64_t>(rank) * count, count);
}

void check_alike(const graph::Node& a, const graph::Node& b) {
  bool alike = a.op_type() == b.op_type() && a.inputs().size() == b.inputs().size();
  for (std::size_t i = 0; alike && i < a.inputs().size(); ++i) {
    alike = a.inputs()[i]->dtype() == b.inputs()[i]->dtype() && a.inputs()[i]->dims() == b.inputs()[i]->dims();
  }
  if (!alike) fail("the replicas come to different collectives: ", describe(a), " and ", describe(b));
}

}  // namespace

std::vector<std::map<std::string, Tensor>> interpret_replicas(const std::vector<std::unique_ptr<graph::Graph>>& graphs,
                                                              const std::vector<std::map<std::string, Tensor>>& feeds) {
  std::vector<Replica> replicas;
  replicas.reserve(graphs.size());
  for (std::size_t rank = 0; rank < graphs.size(); ++rank) replicas.emplace_back(*graphs[rank], feeds.at(rank));
  while (true) {
    std::vector<const graph::Node*> nodes;
    nodes.reserve(replicas.size());
    for (Replica& replica : replicas) nodes.push_back(replica.advance());
    if (nodes.front() == nullptr) break;
    std::vector<std::vector<Tensor>> operands;
    for (std::size_t rank = 0; rank < replicas.size(); ++rank) {
      if (nodes[rank] == nullptr) fail("replica ", rank, " has no ", describe(*nodes.front()));
      check_alike(*nodes.front(), *nodes[rank]);
      operands.push_back(replicas[rank].inputs_of(*nodes[rank]));
    }
    for (std::size_t rank = 0; rank < replicas.size(); ++rank) {
      std::vector<Tensor> results;
      for (std::size_t i = 0; i < nodes[rank]->outputs().size(); ++i) {
        std::vector<Tensor> each;
        each.reserve(operands.size());
        for (const auto& of_replica : operands) each.push_back(of_replica.at(i));
        results.push_back(result_of(*nodes[rank], i, rank, each));
      }
      replicas[rank].finish_collective(results);
    }
  }
  std::vector<std::map<std::string, Tensor>> results;
  results.reserve(replicas.size());
  for (const Replica& replica : replicas) results.push_back(replica.results());
  return results;
}

}  // namespace ort_train::tests
