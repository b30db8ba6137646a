#include "passes/shard_optimizer.h"

#include <limits>
#include <vector>

#include "base/flat_part.h"
#include "graph/builder.h"
#include "graph/shape_inference.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Role;
using graph::training_domain;
using graph::Value;

namespace {

constexpr int parameter_input = 0, gradient_input = 1;

bool is_update(const Node& node) {
  return node.is("SgdUpdate", training_domain) || node.is("AdamUpdate", training_domain);
}

class Sharder {
 public:
  Sharder(Graph& graph, std::int64_t replicas, std::int64_t rank) : graph_(graph), replicas_(replicas), rank_(rank) {}

  void shard(Node& update) {
    Builder builder(graph_, update.output()->name() + ".", &update);
    Value* parameter = update.input(parameter_input);
    const Dims dims = parameter->dims();
    update.set_input(gradient_input, gradient_part(builder, update));
    update.set_input(parameter_input, flat_part(builder, parameter));
    for (int i = gradient_input + 1; i < static_cast<int>(update.inputs().size()); ++i) {
      Value* slot = update.input(i);
      if (slot == nullptr || slot->role() != Role::optimizer_slot) continue;
      const Tensor part = ort_train::flat_part(slot->initial(), replicas_, rank_);
      slot->set_type(graph::Type(part.dtype(), part.dims()));
      slot->set_initial(part);
    }
    graph::infer_types(update);
    gather(update, dims);
  }

  void remove_replaced_reductions() {
    for (Node* reduction : reductions_) graph_.remove(reduction);
  }

 private:
  Value* flat_part(Builder& builder, Value* whole) const {
    return builder.emit_training("FlatPart", {whole}, {{"index", rank_}, {"parts", replicas_}});
  }

  Value* gradient_part(Builder& builder, const Node& update) {
    Value* gradient = update.input(gradient_input);
    Node* reduction = gradient->producer();
    const bool only_here = reduction != nullptr && reduction->is("AllReduce", training_domain) &&
                           reduction->inputs().size() == 1 && reduction->integer("readers", 1) == 1;
    if (!only_here) return flat_part(builder, gradient);
    Attributes attributes = reduction->attributes();
    attributes["parts"] = replicas_;
    Value* part = builder.emit_training("ReduceScatter", {reduction->input(0)}, attributes);
    reductions_.push_back(reduction);
    return part;
  }

  void gather(Node& update, const Dims& dims) {
    Value* next = update.output();
    const std::string name = next->name();
    graph_.rename(next, graph_.unique_name(name + ".part"));
    Node* node = graph_.add_node("AllGather", std::string(training_domain), {next}, {name},
                                 {{"ranks", std::vector<std::int64_t>{static_cast<std::int64_t>(dims.size())}},
                                  {"extents", dims},
                                  {"ready", std::numeric_limits<std::int64_t>::max() - 1}},
                                 name, behind(update));
    graph::infer_types(*node);
    graph_.replace_uses(next, node->output());
    node->set_input(0, next);
  }

  Node* behind(const Node& update) const {
    bool found = false;
    for (const auto& node : graph_.nodes()) {
      if (found) return node.get();
      found = node.get() == &update;
    }
    return nullptr;
  }

  Graph& graph_;
  std::int64_t replicas_, rank_;
  std::vector<Node*> reductions_;
};

}  // namespace

bool ShardOptimizer::run(Graph& graph) {
  if (replicas_ < 2) return false;
  Sharder sharder(graph, replicas_, rank_);
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (!is_update(*node)) continue;
    sharder.shard(*node);
    changed = true;
  }
  sharder.remove_replaced_reductions();
  return changed;
}

}  // namespace ort_train::passes
