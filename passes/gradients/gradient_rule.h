#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace ort_train::passes {

/// What a gradient rule sees of one node: its inputs and outputs, the gradients that reached its outputs, and a builder
/// that appends to the backward part of the graph. All shapes are numbers (autodiff runs after `bind-shapes`).
class GradientContext {
 public:
  GradientContext(graph::Node& node, graph::Builder& builder, std::vector<graph::Value*> output_gradients,
                  std::vector<bool> needed);

  graph::Node& node() const { return node_; }
  graph::Builder& builder() const { return builder_; }
  graph::Value* input(int index) const { return node_.input(index); }
  graph::Value* output(int index = 0) const { return node_.output(index); }

  /// Null when no gradient reaches this output. Same type and extents as the output.
  graph::Value* output_gradient(int index = 0) const;

  /// A gradient of this input is asked for.
  bool needs(int index) const { return index < static_cast<int>(needed_.size()) && needed_[index]; }

  /// Gives the gradient of an input. Its type and extents must be those of the input. Ignored when not needed.
  void set(int index, graph::Value* gradient);

  const std::vector<graph::Value*>& input_gradients() const { return input_gradients_; }

 private:
  graph::Node& node_;
  graph::Builder& builder_;
  std::vector<graph::Value*> output_gradients_;
  std::vector<bool> needed_;
  std::vector<graph::Value*> input_gradients_;
};

/// Emits the nodes that compute the gradients of the node's inputs. What a rule reads (inputs, outputs, output
/// gradients) is plain in the nodes it emits, so liveness and recompute need no declaration of it.
using GradientRule = void (*)(GradientContext&);

/// Null when there is none.
GradientRule find_gradient_rule(std::string_view op_type, std::string_view domain = "");

/// Operators through which no gradient passes: integer and boolean results, shapes, piecewise constant functions.
bool is_non_differentiable(std::string_view op_type, std::string_view domain = "");

/// Outputs of an operator with a rule that do not depend on the elements of its inputs, such as the count of a loss.
bool is_constant_output(std::string_view op_type, std::string_view domain, int output);

/// (domain, operator) of every rule, sorted.
std::vector<std::pair<std::string, std::string>> registered_gradient_rules();

/// Declares a rule at namespace scope: `const GradientRegistration relu("Relu", relu_gradient);`
class GradientRegistration {
 public:
  GradientRegistration(const std::string& op_type, GradientRule rule, std::string_view domain = "");
};

/// Declares operators without a gradient.
class NonDifferentiable {
 public:
  explicit NonDifferentiable(const std::vector<std::string>& op_types, std::string_view domain = "");
};

/// Declares an output, of operators with a rule, that no gradient passes.
class ConstantOutput {
 public:
  ConstantOutput(const std::vector<std::string>& op_types, int output, std::string_view domain = "");
};

/// Sums `gradient` over the axes along which `target` was broadcast, so that it has the extents of `target`.
graph::Value* sum_to_shape_of(graph::Builder& builder, graph::Value* gradient, const graph::Value* target);

}  // namespace ort_train::passes
