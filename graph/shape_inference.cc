#include "graph/shape_inference.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/error.h"
#include "graph/constant_elements.h"
#include "graph/proto_conversion.h"
#include "graph/training_schemas.h"
#include "onnx/defs/schema.h"

namespace ort_train::graph {

namespace {

// What an ONNX schema asks of one node, answered from the IR.
class NodeInferenceContext : public onnx::InferenceContext {
 public:
  explicit NodeInferenceContext(const Node& node) : outputs_(node.outputs().size()) {
    for (const auto& [name, attribute] : node.attributes()) attributes_.emplace(name, to_proto(name, attribute));
    for (const Value* input : node.inputs()) {
      const bool known = input != nullptr && input->dtype() != DataType::undefined;
      input_types_.push_back(known ? std::optional(to_proto(input->type())) : std::nullopt);
      input_data_.push_back(constant_data(input));
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const auto found = attributes_.find(name);
    return found == attributes_.end() ? nullptr : &found->second;
  }
  size_t getNumInputs() const override { return input_types_.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override {
    return index < input_types_.size() && input_types_[index] ? &*input_types_[index] : nullptr;
  }
  const onnx::TensorProto* getInputData(size_t index) const override {
    return index < input_data_.size() && input_data_[index] ? &*input_data_[index] : nullptr;
  }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override { return &outputs_.at(index); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t) const override { return nullptr; }

 private:
  // Axes and shapes are small; larger constants are of no interest to a schema.
  static constexpr std::int64_t largest_visible_constant = 4096;

  static std::optional<onnx::TensorProto> constant_data(const Value* value) {
    const Tensor* elements = constant_elements(value);
    if (elements == nullptr || elements->size() > largest_visible_constant) return {};
    return to_proto(*elements, value->name());
  }

  std::map<std::string, onnx::AttributeProto> attributes_;
  std::vector<std::optional<onnx::TypeProto>> input_types_;
  std::vector<std::optional<onnx::TensorProto>> input_data_;
  std::deque<onnx::TypeProto> outputs_;
};

// Behind an operator that nobody knows, nothing can be said.
bool has_unknown_input(const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* input) { return input != nullptr && input->dtype() == DataType::undefined; });
}

std::string input_types_text(const Node& node) {
  std::string out;
  for (const Value* input : node.inputs()) {
    out += (out.empty() ? "" : ", ") + (input == nullptr ? std::string("-") : to_string(input->type()));
  }
  return out.empty() ? "no inputs" : out;
}

/// Schemas of If, Loop and Scan look into subgraphs, which the IR keeps closed.
bool has_opaque_attribute(const Node& node) {
  return std::any_of(node.attributes().begin(), node.attributes().end(),
                     [](const auto& attribute) { return std::holds_alternative<OpaqueAttribute>(attribute.second); });
}

}  // namespace

std::vector<Type> inferred_types(const Node& node) {
  register_training_schemas();
  std::vector<Type> types(node.outputs().size());
  const auto version = static_cast<int>(node.graph().opset(node.domain()));
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
  if (schema == nullptr || has_opaque_attribute(node) || has_unknown_input(node)) return types;
  NodeInferenceContext context(node);
  try {
    // The number and element types of the inputs; schemas infer shapes without asking for them.
    schema->CheckInputOutputType(context);
    schema->GetTypeAndShapeInferenceFunction()(context);
  } catch (const std::exception& error) {
    fail(describe(node), ": its inputs do not fit (", input_types_text(node), "): ", error.what());
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const onnx::TypeProto& inferred = *context.getOutputType(i);
    // A sequence is the preflight's to report, together with everything else that is not supported.
    if (inferred.has_tensor_type()) types[i] = to_type(inferred, describe(node));
  }
  return types;
}

void infer_types(Node& node) {
  const std::vector<Type> types = inferred_types(node);
  for (std::size_t i = 0; i < types.size(); ++i) {
    Value* output = node.outputs()[i];
    if (output == nullptr || types[i].dtype == DataType::undefined) continue;
    // What a model declares of its outputs is its interface, and ONNX asks for their rank.
    const bool declared = output->type().shape && output->dtype() == types[i].dtype && output->is_graph_output();
    if (types[i].shape || !declared) output->set_type(types[i]);
  }
}

void infer_types(Graph& graph) {
  for (const auto& node : graph.nodes()) infer_types(*node);
}

}  // namespace ort_train::graph
