#include "passes/autodiff.h"

#include <algorithm>
#include <set>
#include <string>

#include "graph/builder.h"
#include "passes/gradients/gradient_rule.h"

namespace ort_train::passes {

namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

/// An unknown element type counts: better a gradient too many than one too few.
bool can_have_gradient(const Value& value) {
  return value.dtype() == DataType::undefined || is_floating_point(value.dtype());
}

/// Bodies of control flow read values that are not among the node's inputs.
bool has_body(const Node& node) {
  for (const auto& [name, attribute] : node.attributes()) {
    if (std::holds_alternative<graph::OpaqueAttribute>(attribute)) return true;
  }
  return false;
}

/// The part of a graph that lies between the wanted values and the losses.
class GradientPath {
 public:
  GradientPath(const Graph& graph, const std::vector<Value*>& wanted, const std::vector<Value*>& losses) {
    follow_dependence(graph, wanted);
    follow_influence(graph, losses);
  }

  /// The value depends on a wanted one, so a gradient for it is of use.
  bool depends(const Value* value) const { return value != nullptr && dependent_.count(value) != 0; }

  /// The nodes that gradients pass, last one first.
  const std::vector<Node*>& reversed_nodes() const { return reversed_nodes_; }

 private:
  void follow_dependence(const Graph& graph, const std::vector<Value*>& wanted) {
    for (const Value* value : wanted) {
      if (can_have_gradient(*value)) dependent_.insert(value);
    }
    for (const auto& node : graph.nodes()) {
      if (is_non_differentiable(node->op_type(), node->domain())) continue;
      bool reached = has_body(*node);
      for (const Value* input : node->inputs()) reached = reached || depends(input);
      if (!reached) continue;
      for (int i = 0; i < static_cast<int>(node->outputs().size()); ++i) {
        const Value* output = node->output(i);
        if (output == nullptr || is_constant_output(node->op_type(), node->domain(), i)) continue;
        if (can_have_gradient(*output)) dependent_.insert(output);
      }
    }
  }

  void follow_influence(const Graph& graph, const std::vector<Value*>& losses) {
    std::set<const Value*> influential(losses.begin(), losses.end());
    for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
      Node* node = it->get();
      bool passed = false;
      for (const Value* output : node->outputs()) {
        passed = passed || (depends(output) && influential.count(output) != 0);
      }
      if (!passed || is_non_differentiable(node->op_type(), node->domain())) continue;
      // A wanted value made from no other wanted one ends the path.
      bool goes_on = has_body(*node);
      for (const Value* input : node->inputs()) goes_on = goes_on || depends(input);
      if (!goes_on) continue;
      reversed_nodes_.push_back(node);
      for (const Value* input : node->inputs()) {
        if (depends(input)) influential.insert(input);
      }
    }
  }

  std::set<const Value*> dependent_;
  std::vector<Node*> reversed_nodes_;
};

std::vector<const Node*> without_rule(const GradientPath& path) {
  std::vector<const Node*> missing;
  for (const Node* node : path.reversed_nodes()) {
    if (find_gradient_rule(node->op_type(), node->domain()) == nullptr) missing.push_back(node);
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

/// One sentence for all that stands in the way.
class Obstacles {
 public:
  void add(const std::string& sentence) { list_ += "\n  " + sentence, ++count_; }

  void throw_if_any() const {
    if (count_ == 0) return;
    fail("no gradient can be computed through ", count_, count_ == 1 ? " node" : " nodes",
         "; freeze the weights in front of them, or train another part of the model:", list_);
  }

 private:
  std::string list_;
  int count_ = 0;
};

/// Gradients on their way back: those that consumers of a value have given, and the sums.
class Accumulator {
 public:
  explicit Accumulator(graph::Builder& builder) : builder_(builder) {}

  void contribute(Value* value, Value* gradient) { contributions_[value].push_back(gradient); }

  /// The gradient of a value all of whose consumers have contributed; null when none has.
  Value* total(Value* value) {
    const auto found = contributions_.find(value);
    if (found == contributions_.end()) return nullptr;
    std::vector<Value*>& parts = found->second;
    if (parts.size() > 1) {
      builder_.set_prefix(value->name() + ".backward.");
      Value* sum = parts.size() == 2 ? builder_.add(parts[0], parts[1]) : builder_.emit("Sum", parts);
      parts = {sum};
    }
    name_after(value, parts[0]);
    return parts[0];
  }

 private:
  /// A gradient that is shared keeps the first name.
  void name_after(const Value* value, Value* gradient) {
    if (!named_.insert(gradient).second) return;
    Graph& graph = builder_.graph();
    graph.rename(gradient, graph.unique_name(value->name() + ".gradient"));
  }

  graph::Builder& builder_;
  std::map<const Value*, std::vector<Value*>> contributions_;
  std::set<const Value*> named_;
};

/// Removes what the rules emitted and nobody reads.
void remove_unused(Graph& graph, const std::set<const Node*>& old_nodes, const std::set<const Value*>& old_initializers,
                   const std::set<const Value*>& results) {
  const std::vector<Node*> nodes = graph.node_list();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (old_nodes.count(*it) != 0) continue;
    bool used = false;
    for (const Value* output : (*it)->outputs()) {
      used = used || (output != nullptr && (!output->uses().empty() || results.count(output) != 0));
    }
    if (!used) graph.remove(*it);
  }
  const std::vector<Value*> initializers = graph.initializers();
  for (Value* value : initializers) {
    if (old_initializers.count(value) == 0 && value->uses().empty() && results.count(value) == 0) graph.remove(value);
  }
}

/// A node's name, or that of its first output.
std::string name_of(const Node& node) {
  if (!node.name().empty()) return node.name();
  for (const Value* output : node.outputs()) {
    if (output != nullptr) return output->name();
  }
  return node.op_type();
}

/// Lets the rule of one node turn the gradients of its outputs into contributions to its inputs.
void pass_back(Node& node, const GradientPath& path, graph::Builder& builder, Accumulator& accumulator) {
  std::vector<Value*> output_gradients;
  bool any = false;
  for (Value* output : node.outputs()) {
    output_gradients.push_back(path.depends(output) ? accumulator.total(output) : nullptr);
    any = any || output_gradients.back() != nullptr;
  }
  if (!any) return;
  std::vector<bool> needed;
  for (const Value* input : node.inputs()) needed.push_back(path.depends(input));
  builder.set_prefix(name_of(node) + ".backward.");
  GradientContext context(node, builder, output_gradients, needed);
  find_gradient_rule(node.op_type(), node.domain())(context);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    Value* gradient = context.input_gradients()[i];
    if (gradient != nullptr) accumulator.contribute(node.inputs()[i], gradient);
  }
}

void check_loss(const Value& loss) {
  if (!is_floating_point(loss.dtype()) || element_count(loss.dims()) != 1) {
    fail("the loss '", loss.name(), "' is ", to_string(loss.type()), "; it must be a single floating-point number");
  }
}

void check_wanted(const std::vector<Value*>& wanted) {
  for (const Value* value : wanted) {
    if (!is_floating_point(value->dtype())) {
      fail("'", value->name(), "' is ", to_string(value->type()), "; only floating-point values have a gradient");
    }
  }
}

}  // namespace

std::map<Value*, Value*> add_gradients(Graph& graph, Value* loss, const std::vector<Value*>& wanted) {
  check_loss(*loss);
  check_wanted(wanted);
  const GradientPath path(graph, wanted, {loss});
  Obstacles obstacles;
  for (const Node* node : without_rule(path)) obstacles.add(describe(*node) + ": the operator has no gradient");
  obstacles.throw_if_any();

  std::set<const Node*> old_nodes;
  for (const auto& node : graph.nodes()) old_nodes.insert(node.get());
  const std::set<const Value*> old_initializers(graph.initializers().begin(), graph.initializers().end());

  graph::Builder builder(graph);
  Accumulator accumulator(builder);
  accumulator.contribute(loss, builder.constant(Tensor::of<double>(loss->dims(), {1.0}).cast(loss->dtype())));
  for (Node* node : path.reversed_nodes()) {
    try {
      pass_back(*node, path, builder, accumulator);
    } catch (const Error& error) {
      obstacles.add(error.what());
    }
  }
  obstacles.throw_if_any();

  std::map<Value*, Value*> gradients;
  std::set<const Value*> results;
  for (Value* value : wanted) {
    Value* gradient = accumulator.total(value);
    if (gradient == nullptr) {
      gradient = graph.add_constant(value->name() + ".gradient", Tensor(value->dtype(), value->dims()));
    }
    gradients[value] = gradient;
    results.insert(gradient);
  }
  remove_unused(graph, old_nodes, old_initializers, results);
  return gradients;
}

std::vector<const Node*> nodes_without_gradient(const Graph& graph, const std::vector<Value*>& wanted,
                                                const std::vector<Value*>& losses) {
  return without_rule(GradientPath(graph, wanted, losses));
}

}  // namespace ort_train::passes
