// Products of matrices: the samples may lie along rows, columns, a batch axis, or along the axis that is summed over.

#include <algorithm>
#include <string>

#include "base/error.h"
#include "passes/einsum_subscripts.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

/// Axes of operands and result as letters: every product here is some Einsum.
using Product = EinsumSubscripts;

/// Where the samples lie in the first operand that has them: one letter, with one outer and inner.
struct Letter {
  char name = 0;
  Sharding sharding;
};

Letter letter_of_samples(const PartitionContext& context, const Product& product) {
  for (int i = 0; i < static_cast<int>(product.operands.size()); ++i) {
    const Sharding input = context.input(i);
    if (!input.is_sharded()) continue;
    return {product.operands[static_cast<std::size_t>(i)].at(static_cast<std::size_t>(input.axis)), input};
  }
  return {};
}

bool is_linear_in_a_sum(const PartitionContext& context, std::size_t operands) {
  int partial = 0;
  for (int i = 0; i < static_cast<int>(operands); ++i) {
    if (context.input(i).is_partial()) ++partial;
    if (context.input(i).is_sharded()) return false;
  }
  return partial == 1;
}

/// Returns how the product lies.
Sharding product_rule(PartitionContext& context, const Product& product) {
  if (is_linear_in_a_sum(context, product.operands.size())) return Sharding::partial();
  const Letter letter = letter_of_samples(context, product);
  for (int i = 0; i < static_cast<int>(product.operands.size()); ++i) {
    const std::string& axes = product.operands[static_cast<std::size_t>(i)];
    const std::size_t axis = letter.name == 0 ? std::string::npos : axes.find(letter.name);
    if (axis == std::string::npos) {
      context.need_replicated(i);
      continue;
    }
    const bool lies_so = context.input(i) == letter.sharding.at_axis(static_cast<std::int64_t>(axis));
    const bool broadcast = !lies_so && context.input_dims(i).at(axis) == 1;
    context.need(i, broadcast ? Sharding::replicated() : letter.sharding.at_axis(static_cast<std::int64_t>(axis)));
  }
  if (letter.name == 0) return Sharding::replicated();
  const std::size_t axis = product.result.find(letter.name);
  return axis == std::string::npos ? Sharding::partial() : letter.sharding.at_axis(static_cast<std::int64_t>(axis));
}

/// Batch axes are a, b, ... from the last one to the first, as broadcasting aligns them.
std::string batch_axes(std::size_t count) {
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) letters.insert(letters.begin(), static_cast<char>('a' + i));
  return letters;
}

void matmul_rule(PartitionContext& context) {
  const std::size_t left = context.input_dims(0).size(), right = context.input_dims(1).size();
  Product product;
  product.operands.push_back(left == 1 ? "K" : batch_axes(left - 2) + "MK");
  product.operands.push_back(right == 1 ? "K" : batch_axes(right - 2) + "KN");
  product.result = batch_axes(std::max(left, right) > 2 ? std::max(left, right) - 2 : 0);
  if (left > 1) product.result += "M";
  if (right > 1) product.result += "N";
  context.give(0, product_rule(context, product));
}

/// Of a sum over the shards one has the bias: the one that begins with the first sample.
std::vector<graph::Value*> emit_with_bias_once(Emission& emission) {
  if (emission.shard.first != 0) emission.inputs.resize(2);
  return emission.clone();
}

void gemm_rule(PartitionContext& context) {
  constexpr int bias = 2;
  const bool transposes_left = context.node().integer("transA", 0) != 0;
  const bool transposes_right = context.node().integer("transB", 0) != 0;
  const Product product = {{transposes_left ? "KM" : "MK", transposes_right ? "NK" : "KN"}, "MN"};
  const Sharding result = product_rule(context, product);
  if (context.has_input(bias)) {
    const Dims dims = context.input_dims(bias);
    const std::int64_t axis = result.axis - (2 - static_cast<std::int64_t>(dims.size()));
    const bool has_samples = result.is_sharded() && axis >= 0 &&
                             (context.input(bias).is_sharded() || dims[static_cast<std::size_t>(axis)] != 1);
    context.need(bias, has_samples ? result.at_axis(axis) : Sharding::replicated());
    if (result.is_partial()) context.emit_by(emit_with_bias_once);
  }
  context.give(0, result);
}

void einsum_rule(PartitionContext& context) {
  const Product product = einsum_subscripts(context.node());
  for (int i = 0; i < static_cast<int>(product.operands.size()); ++i) {
    const std::string& axes = product.operands[static_cast<std::size_t>(i)];
    if (!context.input(i).is_sharded()) continue;
    const char letter = axes.at(static_cast<std::size_t>(context.input(i).axis));
    if (std::count(axes.begin(), axes.end(), letter) > 1) context.refuse("it takes a diagonal along the samples");
  }
  context.give(0, product_rule(context, product));
}

const PartitionRegistration matmul({"MatMul"}, matmul_rule);
const PartitionRegistration gemm({"Gemm"}, gemm_rule);
const PartitionRegistration einsum({"Einsum"}, einsum_rule);

}  // namespace
}  // namespace ort_train::passes
