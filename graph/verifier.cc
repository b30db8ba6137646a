#include "graph/verifier.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "graph/proto_conversion.h"
#include "graph/shape_inference.h"
#include "graph/training_schemas.h"
#include "onnx/defs/schema.h"

namespace ort_train::graph {

namespace {

/// Nothing that both types know differs.
bool agree(const Type& a, const Type& b) {
  if (a.dtype == DataType::undefined || b.dtype == DataType::undefined) return true;
  if (a.dtype != b.dtype) return false;
  if (!a.shape || !b.shape) return true;
  return std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                    [](const Dimension& x, const Dimension& y) { return !x.is_known() || !y.is_known() || x == y; });
}

class Verifier {
 public:
  Verifier(const Graph& graph, std::string where) : graph_(graph), where_(std::move(where)) {}

  void run() {
    for (const Value* input : graph_.inputs()) define(input);
    for (const Value* state : graph_.initializers()) check_initializer(state);
    for (const auto& node : graph_.nodes()) check_node(*node);
    for (const Value* output : graph_.outputs()) check_reachable(output, "is an output");
    for (const Update& update : graph_.updates()) check_update(update);
    check_use_lists();
  }

 private:
  template <typename... Parts>
  [[noreturn]] void reject(const Parts&... parts) const {
    fail(where_, ": the graph '", graph_.name, "' is broken: ", parts...);
  }

  void define(const Value* value) {
    if (graph_.find(value->name()) != value) reject("'", value->name(), "' is not registered under its name");
    if (!defined_.insert(value).second) reject("'", value->name(), "' is defined twice");
  }

  void check_initializer(const Value* state) {
    define(state);
    if (!state->is_initializer()) reject("'", state->name(), "' has no stored elements");
    if (state->trainable() && state->role() != Role::parameter) {
      reject("'", state->name(), "', a ", to_string(state->role()), ", is trainable");
    }
  }

  void check_node(const Node& node) {
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const Value* input = node.input(i);
      if (input == nullptr) continue;
      if (defined_.count(input) == 0) reject(describe(node), " reads '", input->name(), "' before it is computed");
      const auto& uses = input->uses();
      const bool listed =
          std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.node == &node && use.index == i; });
      if (!listed) reject("the use of '", input->name(), "' by ", describe(node), " is not in its use list");
      ++uses_;
    }
    for (const Value* output : node.outputs()) {
      if (output == nullptr) continue;
      if (output->producer() != &node) reject("'", output->name(), "' names another producer than ", describe(node));
      define(output);
    }
    check_schema(node);
    check_types(node);
  }

  void check_schema(const Node& node) const {
    const auto version = static_cast<int>(graph_.opset(node.domain()));
    const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
    if (schema == nullptr) return;  // the preflight reports operators that nobody knows
    try {
      schema->Verify(to_proto(node));
    } catch (const std::exception& error) {
      reject(describe(node), ": ", error.what());
    }
  }

  void check_types(const Node& node) const {
    std::vector<Type> types;
    try {
      types = inferred_types(node);
    } catch (const Error& error) {
      reject(error.what());
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Value* output = node.outputs()[i];
      if (output == nullptr || agree(output->type(), types[i])) continue;
      reject(describe(node), " computes ", to_string(types[i]), ", but '", output->name(), "' is ",
             to_string(output->type()));
    }
  }

  void check_reachable(const Value* value, const char* what) const {
    if (defined_.count(value) == 0) reject("'", value->name(), "' ", what, " but nothing computes it");
  }

  void check_update(const Update& update) const {
    check_reachable(update.next, "updates state");
    if (!update.state->is_initializer() || update.state->is_constant()) {
      reject("'", update.state->name(), "' is updated but is no state");
    }
    if (update.state->type() != update.next->type()) {
      reject("'", update.state->name(), "' is ", to_string(update.state->type()), " but is updated with ",
             to_string(update.next->type()));
    }
  }

  void check_use_lists() const {
    std::size_t listed = 0;
    for (const Value* value : defined_) listed += value->uses().size();
    if (listed != uses_) reject("use lists name uses that no node has");
  }

  const Graph& graph_;
  std::string where_;
  std::unordered_set<const Value*> defined_;
  std::size_t uses_ = 0;
};

}  // namespace

void verify(const Graph& graph, const std::string& where) {
  register_training_schemas();
  Verifier(graph, where).run();
}

}  // namespace ort_train::graph
