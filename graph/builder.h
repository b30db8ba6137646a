#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace ort_train::graph {

/// Adds nodes with their types inferred at once, at the end of a graph or in front of one of its nodes. What passes,
/// gradient rules and model builders use. Every method throws an Error that names the operator and its input shapes
/// when they do not fit.
class Builder {
 public:
  /// Names of new values start with `prefix`.
  explicit Builder(Graph& graph, std::string prefix = "", Node* before = nullptr)
      : graph_(graph), prefix_(std::move(prefix)), before_(before) {}

  Graph& graph() const { return graph_; }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void set_insertion_point(Node* before) { before_ = before; }

  /// A node of the default domain with one output.
  Value* emit(const std::string& op_type, std::vector<Value*> inputs, Attributes attributes = {});
  /// A node of the default domain with several outputs.
  std::vector<Value*> emit_many(const std::string& op_type, std::vector<Value*> inputs, int outputs,
                                Attributes attributes = {});
  /// The same for operators of `training_domain`.
  Value* emit_training(const std::string& op_type, std::vector<Value*> inputs, Attributes attributes = {});
  std::vector<Value*> emit_training_many(const std::string& op_type, std::vector<Value*> inputs, int outputs,
                                         Attributes attributes = {});

  // --- constants
  Value* constant(Tensor elements);
  /// A rank-1 int64 constant.
  Value* int64s(const std::vector<std::int64_t>& values);
  /// A scalar of the given floating-point or integer type.
  Value* scalar(double value, DataType dtype);
  /// A scalar of the element type of `like`.
  Value* scalar_like(double value, const Value* like) { return scalar(value, like->dtype()); }

  // --- common operators
  Value* add(Value* a, Value* b) { return emit("Add", {a, b}); }
  Value* sub(Value* a, Value* b) { return emit("Sub", {a, b}); }
  Value* mul(Value* a, Value* b) { return emit("Mul", {a, b}); }
  Value* div(Value* a, Value* b) { return emit("Div", {a, b}); }
  Value* neg(Value* a) { return emit("Neg", {a}); }
  Value* cast(Value* a, DataType to);
  Value* reshape(Value* a, const Dims& dims);
  Value* transpose(Value* a, const std::vector<std::int64_t>& permutation);
  Value* reduce_sum(Value* a, const std::vector<std::int64_t>& axes, bool keep_dims);
  Value* expand(Value* a, const Dims& dims);
  Value* unsqueeze(Value* a, const std::vector<std::int64_t>& axes);
  /// Zeros (or another number) of the type and dims of `like`.
  Value* filled_like(double value, const Value* like);

 private:
  std::vector<Value*> emit_node(const std::string& op_type, const std::string& domain, std::vector<Value*> inputs,
                                int outputs, Attributes attributes);

  Graph& graph_;
  std::string prefix_;
  Node* before_;
};

}  // namespace ort_train::graph
