#include "graph/builder.h"

#include "base/dispatch.h"
#include "graph/shape_inference.h"

namespace ort_train::graph {

std::vector<Value*> Builder::emit_node(const std::string& op_type, const std::string& domain,
                                       std::vector<Value*> inputs, int outputs, Attributes attributes) {
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) {
    const std::string hint = prefix_ + op_type + (outputs == 1 ? "" : "_" + std::to_string(i));
    names.push_back(graph_.unique_name(hint));
  }
  Node* node =
      graph_.add_node(op_type, domain, std::move(inputs), names, std::move(attributes), names.front(), before_);
  infer_types(*node);
  return node->outputs();
}

Value* Builder::emit(const std::string& op_type, std::vector<Value*> inputs, Attributes attributes) {
  return emit_node(op_type, "", std::move(inputs), 1, std::move(attributes)).front();
}

std::vector<Value*> Builder::emit_many(const std::string& op_type, std::vector<Value*> inputs, int outputs,
                                       Attributes attributes) {
  return emit_node(op_type, "", std::move(inputs), outputs, std::move(attributes));
}

Value* Builder::emit_training(const std::string& op_type, std::vector<Value*> inputs, Attributes attributes) {
  return emit_training_many(op_type, std::move(inputs), 1, std::move(attributes)).front();
}

std::vector<Value*> Builder::emit_training_many(const std::string& op_type, std::vector<Value*> inputs, int outputs,
                                                Attributes attributes) {
  graph_.opsets.emplace(std::string(training_domain), 1);
  return emit_node(op_type, std::string(training_domain), std::move(inputs), outputs, std::move(attributes));
}

Value* Builder::constant(Tensor elements) { return graph_.add_constant(prefix_ + "constant", std::move(elements)); }

Value* Builder::int64s(const std::vector<std::int64_t>& values) { return constant(Tensor::of_int64s(values)); }

Value* Builder::scalar(double value, DataType dtype) { return constant(Tensor::scalar(value).cast(dtype)); }

Value* Builder::cast(Value* a, DataType to) {
  return a->dtype() == to ? a : emit("Cast", {a}, {{"to", static_cast<std::int64_t>(to)}});
}

Value* Builder::reshape(Value* a, const Dims& dims) {
  // allowzero: an extent of 0 is an empty array, not "as in the input".
  return emit("Reshape", {a, int64s(dims)}, {{"allowzero", std::int64_t{1}}});
}

Value* Builder::transpose(Value* a, const std::vector<std::int64_t>& permutation) {
  return emit("Transpose", {a}, {{"perm", permutation}});
}

Value* Builder::reduce_sum(Value* a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return emit("ReduceSum", {a, int64s(axes)},
              {{"keepdims", std::int64_t{keep_dims}}, {"noop_with_empty_axes", std::int64_t{1}}});
}

Value* Builder::expand(Value* a, const Dims& dims) { return emit("Expand", {a, int64s(dims)}); }

Value* Builder::unsqueeze(Value* a, const std::vector<std::int64_t>& axes) {
  return emit("Unsqueeze", {a, int64s(axes)});
}

Value* Builder::filled_like(double value, const Value* like) { return expand(scalar_like(value, like), like->dims()); }

}  // namespace ort_train::graph
