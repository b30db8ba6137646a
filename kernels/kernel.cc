#include "kernels/kernel.h"

#include <map>
#include <unordered_map>

namespace ort_train::kernels {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, Kernel>& registry() {
  static std::map<Key, Kernel> kernels;
  return kernels;
}

Tensor make_output(const graph::Value* value) {
  if (value == nullptr || !value->type().is_static()) return {};
  return Tensor(value->dtype(), value->dims());
}

}  // namespace

Registration::Registration(const std::string& op_type, Kernel kernel, std::string_view domain) {
  if (!registry().emplace(Key(domain, op_type), kernel).second) {
    fail("two kernels are registered for the operator ", op_type);
  }
}

Kernel find_kernel(std::string_view op_type, std::string_view domain) {
  const auto found = registry().find(Key(domain, op_type));
  return found == registry().end() ? nullptr : found->second;
}

std::vector<std::pair<std::string, std::string>> registered_kernels() {
  std::vector<Key> keys;
  for (const auto& [key, kernel] : registry()) keys.push_back(key);
  return keys;
}

std::vector<Tensor> evaluate(const graph::Node& node, const std::vector<Tensor>& inputs) {
  const Kernel kernel = find_kernel(node.op_type(), node.domain());
  if (kernel == nullptr) fail(describe(node), ": there is no CPU kernel for this operator");
  Invocation invocation{node, inputs, {}};
  for (const graph::Value* output : node.outputs()) invocation.outputs.push_back(make_output(output));
  try {
    kernel(invocation);
  } catch (const Error& error) {
    fail(describe(node), ": ", error.what());
  }
  return invocation.outputs;
}

std::map<std::string, Tensor> interpret(const graph::Graph& graph, const std::map<std::string, Tensor>& feeds) {
  std::unordered_map<const graph::Value*, Tensor> values;
  const auto value_of = [&](const graph::Value* value) -> Tensor {
    if (value == nullptr) return {};
    if (const auto found = values.find(value); found != values.end()) return found->second;
    if (const auto fed = feeds.find(value->name()); fed != feeds.end()) return fed->second;
    if (value->is_initializer()) return value->initial();
    fail("the input '", value->name(), "' was not fed");
  };
  for (const auto& node : graph.nodes()) {
    std::vector<Tensor> inputs;
    for (const graph::Value* input : node->inputs()) inputs.push_back(value_of(input));
    const std::vector<Tensor> outputs = evaluate(*node, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node->outputs()[i] != nullptr) values[node->outputs()[i]] = outputs[i];
    }
  }
  std::map<std::string, Tensor> results;
  for (const graph::Value* output : graph.outputs()) results[output->name()] = value_of(output);
  for (const graph::Update& update : graph.updates()) results[update.state->name()] = value_of(update.next);
  return results;
}

}  // namespace ort_train::kernels
