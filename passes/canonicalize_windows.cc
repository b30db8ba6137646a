#include "passes/canonicalize_windows.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Node;

namespace {

using Integers = std::vector<std::int64_t>;

bool has_weight(const Node& node) { return node.is("Conv") || node.is("ConvTranspose"); }

bool has_window(const Node& node) {
  static const std::set<std::string> pools = {"MaxPool", "AveragePool", "LpPool"};
  return has_weight(node) || (node.domain().empty() && pools.count(node.op_type()) != 0);
}

Integers kernel_shape(const Node& node) {
  if (!has_weight(node)) return node.integers("kernel_shape");
  const Dims weight = node.input(1)->dims();
  return {weight.begin() + 2, weight.end()};
}

// ONNX operators, Conv: SAME gives ceil(in / stride) outputs, the odd pixel going to the end (UPPER) or the beginning.
Integers same_pads(const Node& node, const Integers& kernel, const Integers& strides, const Integers& dilations,
                   bool upper) {
  const Dims input = node.input(0)->dims();
  const std::size_t axes = kernel.size();
  Integers pads(2 * axes, 0);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = input[axis + 2];
    const std::int64_t window = (kernel[axis] - 1) * dilations[axis] + 1;
    std::int64_t total = 0;
    if (node.is("ConvTranspose")) {
      total = std::max<std::int64_t>(0, window - strides[axis]);
    } else {
      const std::int64_t outputs = (extent + strides[axis] - 1) / strides[axis];
      total = std::max<std::int64_t>(0, (outputs - 1) * strides[axis] + window - extent);
    }
    pads[axis] = upper ? total / 2 : total - total / 2;
    pads[axis + axes] = total - pads[axis];
  }
  return pads;
}

void canonicalize(Node& node) {
  const Integers kernel = kernel_shape(node);
  if (kernel.empty()) fail(describe(node), ": it has no window (kernel_shape)");
  if (static_cast<std::int64_t>(kernel.size()) != node.input(0)->rank() - 2) {
    fail(describe(node), ": a window of ", kernel.size(), " axes does not fit the input ",
         to_string(node.input(0)->type()));
  }
  const Integers strides = node.integers("strides", Integers(kernel.size(), 1));
  const Integers dilations = node.integers("dilations", Integers(kernel.size(), 1));
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  Integers pads = node.integers("pads", Integers(2 * kernel.size(), 0));
  if (auto_pad == "VALID") pads.assign(2 * kernel.size(), 0);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pads = same_pads(node, kernel, strides, dilations, auto_pad == "SAME_UPPER");
  }
  node.set("kernel_shape", kernel);
  node.set("strides", strides);
  node.set("dilations", dilations);
  node.set("pads", pads);
  node.erase("auto_pad");
}

}  // namespace

bool CanonicalizeWindows::run(Graph& graph) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (!has_window(*node)) continue;
    const graph::Attributes before = node->attributes();
    canonicalize(*node);
    changed |= before.size() != node->attributes().size();
  }
  return changed;
}

}  // namespace ort_train::passes
