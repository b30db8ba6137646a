// Gradient of Einsum. Of one operand it is again an Einsum: of the result's gradient with the other operands. Labels of
// the operand that occur in none of these were summed over, so the gradient is spread along them; a label that occurs
// twice in the operand took a diagonal, so the gradient lies on it.

#include <algorithm>

#include "passes/einsum_subscripts.h"
#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Builder;
using graph::Value;

/// Each label once, in order of first occurrence.
std::string distinct(const std::string& labels) {
  std::string result;
  for (const char label : labels) {
    if (result.find(label) == std::string::npos) result += label;
  }
  return result;
}

/// The gradient of the result and the operands beside the one in question, as terms of a new equation.
struct Factors {
  std::vector<Value*> values;
  std::vector<std::string> terms;

  void add(Value* value, const std::string& term) {
    values.push_back(value);
    terms.push_back(term);
  }
  bool have(char label) const {
    return std::any_of(terms.begin(), terms.end(),
                       [label](const std::string& term) { return term.find(label) != std::string::npos; });
  }
};

/// The sum of products of the factors over all labels that are not in `result`.
Value* contract(Builder& builder, const Factors& factors, const std::string& result) {
  if (factors.values.size() == 1 && factors.terms[0] == result) return factors.values[0];
  std::string equation = factors.terms[0];
  for (std::size_t i = 1; i < factors.terms.size(); ++i) equation += "," + factors.terms[i];
  return builder.emit("Einsum", factors.values, {{"equation", equation + "->" + result}});
}

/// 1 where the positions along the two axes agree, with extent 1 along all others.
Value* diagonal_mask(Builder& builder, std::int64_t extent, std::size_t first, std::size_t second, std::size_t rank,
                     DataType dtype) {
  Tensor mask(DataType::float64, {extent, extent});
  for (std::int64_t i = 0; i < extent; ++i) mask.data<double>()[i * extent + i] = 1;
  Dims dims(rank, 1);
  dims[first] = dims[second] = extent;
  return builder.constant(mask.cast(dtype).reshaped(dims));
}

/// Gives an array with the axes `term` (of the extents `dims`) from one with the axes `labels`, a subset in order of
/// first occurrence.
Value* spread(Builder& builder, Value* value, const std::string& labels, const std::string& term, const Dims& dims) {
  Dims aligned(term.size(), 1);
  std::vector<Value*> masks;
  const Dims value_dims = value->dims();
  for (std::size_t axis = 0; axis < term.size(); ++axis) {
    const std::size_t first = term.find(term[axis]);
    const std::size_t place = labels.find(term[axis]);
    if (first != axis) {
      masks.push_back(diagonal_mask(builder, dims[axis], first, axis, term.size(), value->dtype()));
    } else if (place != std::string::npos) {
      aligned[axis] = value_dims[place];
    }
  }
  if (aligned != value_dims) value = builder.reshape(value, aligned);
  for (Value* mask : masks) value = builder.mul(value, mask);
  // An operand of extent 1 stood for the extent of the other operands: those elements are summed.
  Dims full = value->dims();
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if (full[axis] == 1) full[axis] = dims[axis];
  }
  return full == value->dims() ? value : builder.expand(value, full);
}

void set_gradient_of_operand(GradientContext& context, const EinsumSubscripts& subscripts, std::size_t operand) {
  Builder& builder = context.builder();
  const Value* target = context.input(static_cast<int>(operand));
  const std::string& term = subscripts.operands[operand];
  Factors factors;
  factors.add(context.output_gradient(), subscripts.result);
  for (std::size_t other = 0; other < subscripts.operands.size(); ++other) {
    if (other != operand) factors.add(context.input(static_cast<int>(other)), subscripts.operands[other]);
  }
  std::string labels;
  for (const char label : distinct(term)) {
    if (factors.have(label)) labels += label;
  }
  Value* gradient = spread(builder, contract(builder, factors, labels), labels, term, target->dims());
  context.set(static_cast<int>(operand), sum_to_shape_of(builder, gradient, target));
}

void einsum_gradient(GradientContext& context) {
  const EinsumSubscripts subscripts = einsum_subscripts(context.node());
  for (std::size_t operand = 0; operand < subscripts.operands.size(); ++operand) {
    if (context.needs(static_cast<int>(operand))) set_gradient_of_operand(context, subscripts, operand);
  }
}

const GradientRegistration einsum_rule("Einsum", einsum_gradient);

}  // namespace
}  // namespace ort_train::passes
