#include "passes/gradients/gradient_rule.h"

#include <map>
#include <set>

namespace ort_train::passes {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, GradientRule>& rules() {
  static std::map<Key, GradientRule> registered;
  return registered;
}

std::set<Key>& non_differentiable() {
  static std::set<Key> registered;
  return registered;
}

std::set<std::pair<Key, int>>& constant_outputs() {
  static std::set<std::pair<Key, int>> registered;
  return registered;
}

}  // namespace

GradientContext::GradientContext(graph::Node& node, graph::Builder& builder,
                                 std::vector<graph::Value*> output_gradients, std::vector<bool> needed)
    : node_(node),
      builder_(builder),
      output_gradients_(std::move(output_gradients)),
      needed_(std::move(needed)),
      input_gradients_(node.inputs().size(), nullptr) {}

graph::Value* GradientContext::output_gradient(int index) const {
  return index < static_cast<int>(output_gradients_.size()) ? output_gradients_[index] : nullptr;
}

void GradientContext::set(int index, graph::Value* gradient) {
  if (!needs(index)) return;
  const graph::Value* value = input(index);
  if (gradient->dtype() != value->dtype() || gradient->dims() != value->dims()) {
    fail(describe(node_), ": the gradient rule gave ", to_string(gradient->type()), " for the input '", value->name(),
         "', which is ", to_string(value->type()));
  }
  input_gradients_[index] = gradient;
}

GradientRule find_gradient_rule(std::string_view op_type, std::string_view domain) {
  const auto found = rules().find(Key(domain, op_type));
  return found == rules().end() ? nullptr : found->second;
}

bool is_non_differentiable(std::string_view op_type, std::string_view domain) {
  return non_differentiable().count(Key(domain, op_type)) != 0;
}

bool is_constant_output(std::string_view op_type, std::string_view domain, int output) {
  return constant_outputs().count({Key(domain, op_type), output}) != 0;
}

std::vector<std::pair<std::string, std::string>> registered_gradient_rules() {
  std::vector<Key> keys;
  for (const auto& [key, rule] : rules()) keys.push_back(key);
  return keys;
}

GradientRegistration::GradientRegistration(const std::string& op_type, GradientRule rule, std::string_view domain) {
  if (!rules().emplace(Key(domain, op_type), rule).second) {
    fail("two gradient rules are registered for the operator ", op_type);
  }
}

NonDifferentiable::NonDifferentiable(const std::vector<std::string>& op_types, std::string_view domain) {
  for (const std::string& op_type : op_types) non_differentiable().emplace(domain, op_type);
}

ConstantOutput::ConstantOutput(const std::vector<std::string>& op_types, int output, std::string_view domain) {
  for (const std::string& op_type : op_types) constant_outputs().emplace(Key(domain, op_type), output);
}

graph::Value* sum_to_shape_of(graph::Builder& builder, graph::Value* gradient, const graph::Value* target) {
  const Dims from = gradient->dims();
  const Dims to = target->dims();
  if (from == to) return gradient;
  const std::size_t extra = from.size() - to.size();
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const bool added = axis < extra;
    if (added || (to[axis - extra] == 1 && from[axis] != 1)) axes.push_back(static_cast<std::int64_t>(axis));
  }
  graph::Value* sum = axes.empty() ? gradient : builder.reduce_sum(gradient, axes, true);
  return sum->dims() == to ? sum : builder.reshape(sum, to);
}

}  // namespace ort_train::passes
