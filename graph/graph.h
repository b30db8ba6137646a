#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/attribute.h"
#include "graph/type.h"

namespace ort_train::graph {

class Graph;
class Node;

/// The domain of the operators that training adds; see graph/training_schemas.h.
inline constexpr std::string_view training_domain = "ai.ort_train";

/// What a value is for. Only `parameter` values are ever trained; a running statistic can never become one.
enum class Role {
  intermediate,       ///< computed by a node
  input,              ///< fed anew every step
  parameter,          ///< state: learned, or frozen when not trainable
  running_statistic,  ///< state: BatchNormalization's running mean and variance
  optimizer_slot,     ///< state: momentum, second moments
  counter,            ///< state: step and random counters
  constant,           ///< never changes: index tensors, shapes, masks
};

std::string to_string(Role role);

/// A use of a value: input number `index` of `node`.
struct Use {
  Node* node = nullptr;
  int index = 0;
};

/// One array in the graph. It has one producer, or none when it is an input or state.
class Value {
 public:
  const std::string& name() const { return name_; }
  const Type& type() const { return type_; }
  void set_type(Type type) { type_ = std::move(type); }
  DataType dtype() const { return type_.dtype; }

  /// The extents; throws, naming the value, unless all of them are numbers.
  Dims dims() const;
  /// The rank; throws, naming the value, when it is unknown.
  std::int64_t rank() const;

  Role role() const { return role_; }
  bool trainable() const { return role_ == Role::parameter && trainable_; }
  /// Throws for anything but a floating-point parameter.
  void set_trainable(bool trainable);
  /// Throws when a running statistic would become something else.
  void set_role(Role role);

  /// State and constants: anything with stored elements.
  bool is_initializer() const { return initial_.defined(); }
  bool is_constant() const { return role_ == Role::constant; }
  const Tensor& initial() const { return initial_; }
  void set_initial(Tensor initial);

  /// Null for inputs and initializers.
  Node* producer() const { return producer_; }
  int output_index() const { return output_index_; }
  const std::vector<Use>& uses() const { return uses_; }
  bool is_graph_output() const;
  Graph& graph() const { return *graph_; }

 private:
  friend class Graph;
  friend class Node;
  std::string name_;
  Type type_;
  Role role_ = Role::intermediate;
  bool trainable_ = false;
  Tensor initial_;
  Node* producer_ = nullptr;
  int output_index_ = 0;
  std::vector<Use> uses_;
  Graph* graph_ = nullptr;
};

/// One operation. Inputs and outputs that ONNX lets one leave out are null.
class Node {
 public:
  const std::string& name() const { return name_; }
  const std::string& op_type() const { return op_type_; }
  /// "" is the default ONNX domain.
  const std::string& domain() const { return domain_; }
  /// True for an operator of the default domain (empty `domain`) or of the given one.
  bool is(std::string_view op_type, std::string_view domain = "") const;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Null when the node has fewer inputs (outputs) or this one is left out.
  Value* input(int index) const;
  Value* output(int index = 0) const;
  void set_input(int index, Value* value);
  /// Shortens or lengthens (with nulls) the list of inputs.
  void resize_inputs(int count);
  /// Gives the node one more output and returns it.
  Value* add_output(const std::string& name_hint, Type type);
  /// Leaves an output out; no node, graph output or update may use it.
  void drop_output(int index);

  const Attributes& attributes() const { return attributes_; }
  bool has(const std::string& attribute) const { return attributes_.count(attribute) != 0; }
  void set(const std::string& attribute, Attribute value) { attributes_[attribute] = std::move(value); }
  void erase(const std::string& attribute) { attributes_.erase(attribute); }
  void rename_operator(std::string op_type, std::string domain);

  /// The attribute, or `fallback` where it is absent; throws, naming the node, when it has another type.
  std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
  float real(const std::string& attribute, float fallback) const;
  std::string string(const std::string& attribute, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& attribute, std::vector<std::int64_t> fallback = {}) const;

  Graph& graph() const { return *graph_; }

 private:
  friend class Graph;
  std::string name_;
  std::string op_type_;
  std::string domain_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  Attributes attributes_;
  Graph* graph_ = nullptr;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

/// "Conv 'features.0' (ai.onnx)": how messages name a node.
std::string describe(const Node& node);

/// State `state` takes the value of `next` when a step ends.
struct Update {
  Value* state = nullptr;
  Value* next = nullptr;
};

/// What a model file says of itself besides its graph.
struct Metadata {
  std::int64_t ir_version = 0;
  std::string producer_name, producer_version, domain, documentation;
  std::int64_t model_version = 0;
  std::map<std::string, std::string> properties;
};

/// A directed acyclic graph in static single assignment form. Nodes are kept in a topological order, names are unique.
/// Move-only; `clone()` copies (stored elements are shared until they are replaced).
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  std::unique_ptr<Graph> clone() const;
  /// Exchanges everything with another graph; nodes and values stay valid and go along.
  void swap(Graph& other);

  std::string name = "graph";
  Metadata metadata;
  /// Operator set version by domain.
  std::map<std::string, std::int64_t> opsets;
  std::int64_t opset(std::string_view domain = "") const;

  // --- values
  Value* add_input(const std::string& name, Type type);
  /// A value with stored elements: state or a constant, according to `role`.
  Value* add_initializer(const std::string& name, Role role, Tensor initial, bool trainable = false);
  /// A constant under a fresh name made from `name_hint`.
  Value* add_constant(const std::string& name_hint, Tensor elements);
  Value* find(std::string_view name) const;
  /// Throws, naming the graph, when there is no such value.
  Value* at(std::string_view name) const;
  /// `hint` itself when it is free, else `hint` with a number.
  std::string unique_name(const std::string& hint) const;
  void rename(Value* value, const std::string& name);

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Initializers in the order in which they were added.
  const std::vector<Value*>& initializers() const { return initializers_; }
  std::vector<Value*> trainable_parameters() const;

  void add_output(Value* value);
  void set_output(std::size_t index, Value* value);
  void set_outputs(std::vector<Value*> outputs) { outputs_ = std::move(outputs); }
  /// Removes an input or initializer that no node, graph output or update uses any more.
  void remove(Value* value);
  /// Turns a fed input into a constant or state of the same name.
  void convert_input_to_initializer(Value* input, Role role, Tensor initial);

  // --- nodes
  /// Appends a node, or puts it in front of `before`. `outputs` gives one name a piece; "" leaves the output out. Names
  /// must be free; an Error leaves the graph as it was. Types of outputs are unknown until shape inference has run
  /// (graph/shape_inference.h).
  Node* add_node(const std::string& op_type, const std::string& domain, std::vector<Value*> inputs,
                 const std::vector<std::string>& outputs, Attributes attributes = {}, const std::string& name = "",
                 Node* before = nullptr);
  /// Nodes in execution order. Do not add or remove while looping over this; use `node_list()`.
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  /// A copy of the list, safe to loop over while the graph changes (removed nodes dangle).
  std::vector<Node*> node_list() const;
  /// Removes a node whose outputs no node, graph output or update uses.
  void remove(Node* node);
  /// Moves the node in front of another one.
  void move_before(Node* node, Node* before);
  /// Restores a topological order, keeping the present order where it is free to. Throws on a cycle.
  void sort();

  /// Every use of `from`, graph outputs and update sources included, becomes a use of `to`.
  void replace_uses(Value* from, Value* to);
  /// Only uses by nodes.
  void replace_node_uses(Value* from, Value* to);

  // --- state updates of a training graph
  const std::vector<Update>& updates() const { return updates_; }
  void add_update(Value* state, Value* next);
  void clear_updates() { updates_.clear(); }

 private:
  friend class Node;
  friend class Value;
  Value* new_value(const std::string& name, Type type, Role role);
  void forget(Value* value);
  bool is_needed(const Value* value) const;

  std::list<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string, std::unique_ptr<Value>> values_;
  std::vector<Value*> inputs_, outputs_, initializers_;
  std::vector<Update> updates_;
  mutable std::unordered_map<std::string, std::int64_t> next_suffix_;
};

}  // namespace ort_train::graph
