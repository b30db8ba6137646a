#include "passes/eliminate_duplicates.h"

#include <map>
#include <sstream>

#include "passes/collectives.h"
#include "passes/random_operators.h"

namespace ort_train::passes {

using graph::Attribute;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

std::string bytes_of(const Tensor& tensor) {
  std::string out = name_of(tensor.dtype()) + to_string(tensor.dims());
  if (tensor.dtype() == DataType::string) {
    for (const std::string& element : tensor.strings()) out += element + '\0';
    return out;
  }
  return out.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
}

void write(std::ostream& out, const Attribute& attribute) {
  out << attribute.index() << ':';
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          out << bytes_of(value);
        } else if constexpr (std::is_same_v<T, graph::OpaqueAttribute>) {
          out << value.serialized;
        } else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string>) {
          out << value;
        } else if constexpr (std::is_same_v<T, float>) {
          out << std::hexfloat << value;
        } else {
          for (const auto& element : value) out << std::hexfloat << element << ',';
        }
      },
      attribute);
}

// Equal keys: the same result. The addresses of inputs stand for the inputs; they are compared, never printed.
std::string key_of(const Node& node) {
  std::ostringstream out;
  out << node.domain() << '/' << node.op_type() << '/' << node.outputs().size();
  for (const Value* output : node.outputs()) out << (output == nullptr ? '-' : '+');
  for (const Value* input : node.inputs()) out << '|' << static_cast<const void*>(input);
  for (const auto& [name, attribute] : node.attributes()) {
    out << '|' << name << '=';
    write(out, attribute);
  }
  return out.str();
}

bool has_graph_output(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output != nullptr && output->is_graph_output()) return true;
  }
  return false;
}

bool merge_constants(Graph& graph) {
  bool changed = false;
  std::map<std::string, Value*> first;
  for (Value* value : std::vector<Value*>(graph.initializers())) {
    if (!value->is_constant() || value->is_graph_output()) continue;
    const auto [known, added] = first.emplace(bytes_of(value->initial()), value);
    if (added) continue;
    graph.replace_uses(value, known->second);
    graph.remove(value);
    changed = true;
  }
  return changed;
}

bool merge_nodes(Graph& graph) {
  bool changed = false;
  std::map<std::string, Node*> first;
  for (Node* node : graph.node_list()) {
    if (is_random_operator(*node) || is_collective(*node)) continue;
    const auto [known, added] = first.emplace(key_of(*node), node);
    // A graph output keeps its name, so its node stays.
    if (added || has_graph_output(*node)) continue;
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      if (node->outputs()[i] != nullptr) graph.replace_uses(node->outputs()[i], known->second->outputs()[i]);
    }
    graph.remove(node);
    changed = true;
  }
  return changed;
}

}  // namespace

bool EliminateDuplicates::run(Graph& graph) {
  const bool constants = merge_constants(graph);
  return merge_nodes(graph) || constants;
}

}  // namespace ort_train::passes
