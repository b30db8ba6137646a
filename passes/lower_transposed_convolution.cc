#include "passes/lower_transposed_convolution.h"

#include "base/error.h"
#include "graph/builder.h"
#include "graph/shape_inference.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

using Integers = std::vector<std::int64_t>;

// ONNX operators, ConvTranspose: with output_shape the pads follow from it.
Integers pads_of(const Node& node, const Dims& output) {
  if (!node.has("output_shape")) return node.integers("pads");
  const Integers kernel = node.integers("kernel_shape"), strides = node.integers("strides");
  const Integers dilations = node.integers("dilations");
  const Integers extra = node.integers("output_padding", Integers(kernel.size(), 0));
  const Dims input = node.input(0)->dims();
  Integers pads(2 * kernel.size());
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t total = strides[axis] * (input[axis + 2] - 1) + extra[axis] +
                               (kernel[axis] - 1) * dilations[axis] + 1 - output[axis + 2];
    pads[axis] = total / 2;
    pads[axis + kernel.size()] = total - total / 2;
    if (total < 0) fail(describe(node), ": its output_shape is larger than the convolution can give");
  }
  return pads;
}

void lower(Node& node) {
  Graph& graph = node.graph();
  const Dims output = node.output()->dims();
  Attributes attributes = {{"kernel_shape", node.integers("kernel_shape")},
                           {"strides", node.integers("strides")},
                           {"dilations", node.integers("dilations")},
                           {"pads", pads_of(node, output)},
                           {"group", node.integer("group", 1)},
                           {"input_shape", Integers(output)}};
  Builder builder(graph, node.output()->name() + ".", &node);
  Value* result = builder.emit_training("ConvGradInput", {node.input(0), node.input(1)}, std::move(attributes));
  if (Value* bias = node.input(2)) {
    Dims column(output.size(), 1);
    column[1] = output[1];
    result = builder.add(result, builder.reshape(bias, column));
  }
  const std::string name = node.output()->name();
  Value* old = node.output();
  graph.replace_uses(old, result);
  graph.remove(&node);
  graph.rename(result, name);
}

}  // namespace

bool LowerTransposedConvolution::run(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (!node->is("ConvTranspose")) continue;
    lower(*node);
    changed = true;
  }
  return changed;
}

}  // namespace ort_train::passes
