#include "passes/eliminate_dead_code.h"

#include <algorithm>
#include <unordered_set>

#include "passes/collectives.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

class DeadCode {
 public:
  explicit DeadCode(Graph& graph) : graph_(graph) {
    for (const Value* output : graph.outputs()) roots_.insert(output);
    for (const graph::Update& update : graph.updates()) roots_.insert(update.next);
  }

  bool remove() {
    bool changed = false;
    std::vector<Node*> nodes = graph_.node_list();
    // Consumers come after producers, so one walk from the back sees every chain.
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) changed |= remove_if_dead(**node);
    for (Value* constant : std::vector<Value*>(graph_.initializers())) {
      if (!constant->is_constant() || is_alive(constant)) continue;
      graph_.remove(constant);
      changed = true;
    }
    return changed;
  }

 private:
  bool is_alive(const Value* value) const { return !value->uses().empty() || roots_.count(value) != 0; }

  bool remove_if_dead(Node& node) {
    const auto& outputs = node.outputs();
    if (is_collective(node)) return false;
    const bool alive = std::any_of(outputs.begin(), outputs.end(),
                                   [&](const Value* output) { return output != nullptr && is_alive(output); });
    if (!alive) {
      graph_.remove(&node);
      return true;
    }
    return drop_unused_optional_outputs(node);
  }

  // Output 0 is never optional; where the number of outputs means something (Split), every one stays.
  bool drop_unused_optional_outputs(Node& node) {
    static const std::unordered_set<std::string> fixed = {"Split", "TopK", "AdamUpdate", "SplitToSequence"};
    if (fixed.count(node.op_type()) != 0) return false;
    bool changed = false;
    for (int index = static_cast<int>(node.outputs().size()) - 1; index >= 1; --index) {
      const Value* output = node.output(index);
      if (output == nullptr || is_alive(output)) continue;
      node.drop_output(index);
      changed = true;
    }
    return changed;
  }

  Graph& graph_;
  std::unordered_set<const Value*> roots_;
};

}  // namespace

bool EliminateDeadCode::run(Graph& graph) { return DeadCode(graph).remove(); }

}  // namespace ort_train::passes
