#include "graph/graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace ort_train::graph {

namespace {

bool is_state_or_constant(Role role) { return role != Role::intermediate && role != Role::input; }

template <typename T>
const T* attribute_as(const Node& node, const std::string& name, const char* kind) {
  const auto found = node.attributes().find(name);
  if (found == node.attributes().end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) fail(describe(node), ": the attribute '", name, "' should be ", kind);
  return value;
}

}  // namespace

std::string to_string(Role role) {
  switch (role) {
    case Role::intermediate: return "intermediate";
    case Role::input: return "input";
    case Role::parameter: return "parameter";
    case Role::running_statistic: return "running statistic";
    case Role::optimizer_slot: return "optimizer slot";
    case Role::counter: return "counter";
    case Role::constant: return "constant";
  }
  return "?";
}

// --- Value

Dims Value::dims() const {
  if (!type_.is_static()) fail("the shape of '", name_, "' is not known in numbers: ", to_string(type_));
  Dims out;
  for (const Dimension& extent : *type_.shape) out.push_back(extent.value());
  return out;
}

std::int64_t Value::rank() const {
  if (!type_.shape) fail("the rank of '", name_, "' is not known");
  return static_cast<std::int64_t>(type_.shape->size());
}

void Value::set_trainable(bool trainable) {
  if (trainable && role_ != Role::parameter) {
    fail("'", name_, "' cannot be trained: its role is ", to_string(role_), ", and only parameters can");
  }
  if (trainable && !is_floating_point(dtype())) {
    fail("'", name_, "' cannot be trained: it holds ", name_of(dtype()), ", and only floating-point parameters can");
  }
  trainable_ = trainable;
}

void Value::set_role(Role role) {
  if (role_ == Role::running_statistic && role == Role::parameter) {
    fail("'", name_, "' is a running statistic and cannot become a parameter");
  }
  role_ = role;
  if (role_ != Role::parameter) trainable_ = false;
}

void Value::set_initial(Tensor initial) {
  if (initial.dtype() != dtype() || !type_.is_static() || initial.dims() != dims()) {
    fail("'", name_, "' is ", to_string(type_), " and cannot hold ", name_of(initial.dtype()),
         to_string(initial.dims()));
  }
  initial_ = std::move(initial);
}

bool Value::is_graph_output() const {
  const auto& outputs = graph_->outputs();
  return std::find(outputs.begin(), outputs.end(), this) != outputs.end();
}

// --- Node

std::string describe(const Node& node) {
  const std::string& name = node.name().empty() && node.output(0) != nullptr ? node.output(0)->name() : node.name();
  const std::string domain = node.domain().empty() ? "" : " (" + node.domain() + ")";
  return node.op_type() + " '" + name + "'" + domain;
}

bool Node::is(std::string_view op_type, std::string_view domain) const {
  return op_type_ == op_type && domain_ == domain;
}

Value* Node::input(int index) const {
  return index >= 0 && index < static_cast<int>(inputs_.size()) ? inputs_[index] : nullptr;
}

Value* Node::output(int index) const {
  return index >= 0 && index < static_cast<int>(outputs_.size()) ? outputs_[index] : nullptr;
}

void Node::set_input(int index, Value* value) {
  if (index >= static_cast<int>(inputs_.size())) inputs_.resize(index + 1, nullptr);
  if (Value* old = inputs_[index]) {
    std::erase_if(old->uses_, [&](const Use& use) { return use.node == this && use.index == index; });
  }
  inputs_[index] = value;
  if (value != nullptr) value->uses_.push_back({this, index});
}

void Node::resize_inputs(int count) {
  for (int i = count; i < static_cast<int>(inputs_.size()); ++i) set_input(i, nullptr);
  inputs_.resize(count, nullptr);
}

Value* Node::add_output(const std::string& name_hint, Type type) {
  Value* value = graph_->new_value(graph_->unique_name(name_hint), std::move(type), Role::intermediate);
  value->producer_ = this;
  value->output_index_ = static_cast<int>(outputs_.size());
  outputs_.push_back(value);
  return value;
}

void Node::drop_output(int index) {
  Value* value = output(index);
  if (value == nullptr) return;
  if (graph_->is_needed(value))
    fail(describe(*this), ": the output '", value->name(), "' is used and cannot be dropped");
  outputs_[index] = nullptr;
  graph_->forget(value);
  while (!outputs_.empty() && outputs_.back() == nullptr) outputs_.pop_back();
}

void Node::rename_operator(std::string op_type, std::string domain) {
  op_type_ = std::move(op_type);
  domain_ = std::move(domain);
}

std::int64_t Node::integer(const std::string& attribute, std::int64_t fallback) const {
  const auto* value = attribute_as<std::int64_t>(*this, attribute, "an integer");
  return value == nullptr ? fallback : *value;
}

float Node::real(const std::string& attribute, float fallback) const {
  const auto* value = attribute_as<float>(*this, attribute, "a number");
  return value == nullptr ? fallback : *value;
}

std::string Node::string(const std::string& attribute, const std::string& fallback) const {
  const auto* value = attribute_as<std::string>(*this, attribute, "a string");
  return value == nullptr ? fallback : *value;
}

std::vector<std::int64_t> Node::integers(const std::string& attribute, std::vector<std::int64_t> fallback) const {
  const auto* value = attribute_as<std::vector<std::int64_t>>(*this, attribute, "a list of integers");
  return value == nullptr ? fallback : *value;
}

// --- Graph

Graph::~Graph() = default;

std::int64_t Graph::opset(std::string_view domain) const {
  const auto found = opsets.find(std::string(domain));
  return found == opsets.end() ? 0 : found->second;
}

void Graph::swap(Graph& other) {
  std::swap(name, other.name);
  std::swap(metadata, other.metadata);
  opsets.swap(other.opsets);
  nodes_.swap(other.nodes_);
  values_.swap(other.values_);
  inputs_.swap(other.inputs_);
  outputs_.swap(other.outputs_);
  initializers_.swap(other.initializers_);
  updates_.swap(other.updates_);
  next_suffix_.swap(other.next_suffix_);
  for (Graph* graph : {this, &other}) {
    for (const auto& node : graph->nodes_) node->graph_ = graph;
    for (const auto& [value_name, value] : graph->values_) value->graph_ = graph;
  }
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->name = name;
  copy->metadata = metadata;
  copy->opsets = opsets;
  std::unordered_map<const Value*, Value*> twin{{nullptr, nullptr}};
  for (const Value* input : inputs_) twin[input] = copy->add_input(input->name(), input->type());
  for (const Value* state : initializers_) {
    Value* value = copy->new_value(state->name(), state->type(), state->role());
    value->initial_ = state->initial_;
    value->trainable_ = state->trainable_;
    copy->initializers_.push_back(value);
    twin[state] = value;
  }
  for (const auto& node : nodes_) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) inputs.push_back(twin.at(input));
    std::vector<std::string> outputs;
    for (const Value* output : node->outputs()) outputs.push_back(output == nullptr ? "" : output->name());
    Node* added = copy->add_node(node->op_type(), node->domain(), inputs, outputs, node->attributes(), node->name());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node->outputs()[i] == nullptr) continue;
      added->outputs()[i]->set_type(node->outputs()[i]->type());
      twin[node->outputs()[i]] = added->outputs()[i];
    }
  }
  for (const Value* output : outputs_) copy->outputs_.push_back(twin.at(output));
  for (const Update& update : updates_) copy->updates_.push_back({twin.at(update.state), twin.at(update.next)});
  return copy;
}

Value* Graph::new_value(const std::string& value_name, Type type, Role role) {
  if (value_name.empty()) fail("a value of the graph '", name, "' has no name");
  auto value = std::make_unique<Value>();
  value->name_ = value_name;
  value->type_ = std::move(type);
  value->role_ = role;
  value->graph_ = this;
  const auto [position, added] = values_.emplace(value_name, std::move(value));
  if (!added) fail("the name '", value_name, "' stands for two values of the graph '", name, "'");
  return position->second.get();
}

void Graph::forget(Value* value) { values_.erase(std::string(value->name())); }

Value* Graph::add_input(const std::string& value_name, Type type) {
  inputs_.push_back(new_value(value_name, std::move(type), Role::input));
  return inputs_.back();
}

Value* Graph::add_initializer(const std::string& value_name, Role role, Tensor initial, bool trainable) {
  if (!is_state_or_constant(role)) fail("'", value_name, "' cannot have stored elements as a ", to_string(role));
  Value* value = new_value(value_name, Type(initial.dtype(), initial.dims()), role);
  value->initial_ = std::move(initial);
  initializers_.push_back(value);
  if (trainable) value->set_trainable(true);
  return value;
}

Value* Graph::add_constant(const std::string& name_hint, Tensor elements) {
  return add_initializer(unique_name(name_hint), Role::constant, std::move(elements));
}

Value* Graph::find(std::string_view value_name) const {
  const auto found = values_.find(std::string(value_name));
  return found == values_.end() ? nullptr : found->second.get();
}

Value* Graph::at(std::string_view value_name) const {
  Value* value = find(value_name);
  if (value == nullptr) fail("the graph '", name, "' has no value named '", value_name, "'");
  return value;
}

std::string Graph::unique_name(const std::string& hint) const {
  if (values_.count(hint) == 0) return hint;
  for (std::int64_t& suffix = next_suffix_[hint];;) {
    std::string candidate = hint + "." + std::to_string(++suffix);
    if (values_.count(candidate) == 0) return candidate;
  }
}

void Graph::rename(Value* value, const std::string& new_name) {
  if (value->name_ == new_name) return;
  if (values_.count(new_name) != 0) fail("the name '", new_name, "' is taken");
  auto entry = values_.extract(value->name_);
  entry.key() = new_name;
  value->name_ = new_name;
  values_.insert(std::move(entry));
}

std::vector<Value*> Graph::trainable_parameters() const {
  std::vector<Value*> out;
  std::copy_if(initializers_.begin(), initializers_.end(), std::back_inserter(out),
               [](const Value* value) { return value->trainable(); });
  return out;
}

void Graph::add_output(Value* value) {
  if (value->graph_ != this) fail("'", value->name(), "' belongs to another graph");
  outputs_.push_back(value);
}

void Graph::set_output(std::size_t index, Value* value) { outputs_.at(index) = value; }

bool Graph::is_needed(const Value* value) const {
  const auto names = [value](const Update& update) { return update.state == value || update.next == value; };
  return !value->uses_.empty() || value->is_graph_output() || std::any_of(updates_.begin(), updates_.end(), names);
}

void Graph::remove(Value* value) {
  if (value->producer_ != nullptr || is_needed(value)) fail("'", value->name(), "' is still in use");
  std::erase(inputs_, value);
  std::erase(initializers_, value);
  forget(value);
}

void Graph::convert_input_to_initializer(Value* input, Role role, Tensor initial) {
  if (input->role() != Role::input) fail("'", input->name(), "' is no input");
  std::erase(inputs_, input);
  input->role_ = role;
  input->type_ = Type(initial.dtype(), initial.dims());
  input->initial_ = std::move(initial);
  initializers_.push_back(input);
}

Node* Graph::add_node(const std::string& op_type, const std::string& domain, std::vector<Value*> inputs,
                      const std::vector<std::string>& outputs, Attributes attributes, const std::string& node_name,
                      Node* before) {
  // Refused before anything is changed, so that a caller who catches the error has the graph as it was.
  for (const Value* input : inputs) {
    if (input != nullptr && input->graph_ != this) fail("'", input->name(), "' belongs to another graph");
  }
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const bool taken = find(*output) != nullptr || std::find(outputs.begin(), output, *output) != output;
    if (!output->empty() && taken) fail("the name '", *output, "' stands for two values of the graph '", name, "'");
  }
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op_type_ = op_type;
  node->domain_ = domain == "ai.onnx" ? "" : domain;
  node->name_ = node_name;
  node->attributes_ = std::move(attributes);
  node->graph_ = this;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Value* value = outputs[i].empty() ? nullptr : new_value(outputs[i], Type(), Role::intermediate);
    if (value != nullptr) {
      value->producer_ = node;
      value->output_index_ = static_cast<int>(i);
    }
    node->outputs_.push_back(value);
  }
  node->inputs_.resize(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    node->set_input(static_cast<int>(i), inputs[i]);
  }
  const auto where = before == nullptr ? nodes_.end() : before->position_;
  node->position_ = nodes_.insert(where, std::move(owned));
  return node;
}

std::vector<Node*> Graph::node_list() const {
  std::vector<Node*> out;
  out.reserve(nodes_.size());
  for (const auto& node : nodes_) out.push_back(node.get());
  return out;
}

void Graph::remove(Node* node) {
  for (Value* output : node->outputs_) {
    if (output != nullptr && is_needed(output)) {
      fail(describe(*node), ": its output '", output->name(), "' is still in use");
    }
  }
  for (std::size_t i = 0; i < node->inputs_.size(); ++i) node->set_input(static_cast<int>(i), nullptr);
  for (Value* output : node->outputs_) {
    if (output != nullptr) forget(output);
  }
  nodes_.erase(node->position_);
}

void Graph::move_before(Node* node, Node* before) { nodes_.splice(before->position_, nodes_, node->position_); }

void Graph::sort() {
  std::list<std::unique_ptr<Node>> sorted;
  std::unordered_set<const Value*> ready;
  const auto is_ready = [&](const Value* value) {
    return value == nullptr || value->producer() == nullptr || ready.count(value) != 0;
  };
  // Each round takes the first node whose inputs are there, going back only as far as that node's consumers need.
  while (!nodes_.empty()) {
    bool progressed = false;
    for (auto position = nodes_.begin(); position != nodes_.end();) {
      const auto next = std::next(position);
      if (std::all_of((*position)->inputs().begin(), (*position)->inputs().end(), is_ready)) {
        for (const Value* output : (*position)->outputs()) ready.insert(output);
        sorted.splice(sorted.end(), nodes_, position);
        progressed = true;
      }
      position = next;
    }
    if (!progressed) {
      const std::string where = describe(*nodes_.front());
      nodes_.splice(nodes_.begin(), sorted);
      fail("the graph '", name, "' has a cycle through ", where);
    }
  }
  nodes_ = std::move(sorted);
}

void Graph::replace_node_uses(Value* from, Value* to) {
  const std::vector<Use> uses = from->uses_;
  for (const Use& use : uses) use.node->set_input(use.index, to);
}

void Graph::replace_uses(Value* from, Value* to) {
  replace_node_uses(from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  for (Update& update : updates_) {
    if (update.next == from) update.next = to;
  }
}

void Graph::add_update(Value* state, Value* next) {
  if (!state->is_initializer() || state->is_constant()) fail("'", state->name(), "' is no state and cannot be updated");
  if (state->dtype() != next->dtype() || state->dims() != next->dims()) {
    fail("'", state->name(), "' is ", to_string(state->type()), " and cannot take ", to_string(next->type()));
  }
  updates_.push_back({state, next});
}

}  // namespace ort_train::graph
