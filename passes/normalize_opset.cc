#include "passes/normalize_opset.h"

#include <map>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/shape_inference.h"

namespace ort_train::passes {

using graph::Attribute;
using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

// Moves an attribute that became an input; one that is absent stays absent.
template <typename Convert>
void attribute_to_input(Node& node, const std::string& attribute, int input, Convert&& convert) {
  if (!node.has(attribute)) return;
  node.set_input(input, node.graph().add_constant(node.output()->name() + "." + attribute, convert(node)));
  node.erase(attribute);
}

void integers_to_input(Node& node, const std::string& attribute, int input) {
  attribute_to_input(node, attribute, input, [&](const Node& n) { return Tensor::of_int64s(n.integers(attribute)); });
}

// The scalar has the element type of the node's first input.
void real_to_input(Node& node, const std::string& attribute, int input) {
  attribute_to_input(node, attribute, input, [&](const Node& n) {
    const DataType dtype = n.input(0)->dtype() == DataType::undefined ? DataType::float32 : n.input(0)->dtype();
    return Tensor::scalar(n.real(attribute, 0)).cast(dtype);
  });
}

void reduce_axes(Node& node) { integers_to_input(node, "axes", 1); }

void split_sizes(Node& node) {
  integers_to_input(node, "split", 1);
  if (node.input(1) == nullptr && !node.has("num_outputs")) {
    node.set("num_outputs", static_cast<std::int64_t>(node.outputs().size()));
  }
}

void slice_bounds(Node& node) {
  integers_to_input(node, "starts", 1);
  integers_to_input(node, "ends", 2);
  integers_to_input(node, "axes", 3);
}

void pad_amounts(Node& node) {
  integers_to_input(node, "pads", 1);
  if (node.has("value")) real_to_input(node, "value", 2);
}

void clip_bounds(Node& node) {
  real_to_input(node, "min", 1);
  real_to_input(node, "max", 2);
}

void top_k_count(Node& node) {
  attribute_to_input(node, "k", 1, [](const Node& n) { return Tensor::of_int64s({n.integer("k", 1)}); });
}

// A file older than opset 12 cannot say its mode; a Dropout that the exporter left in is meant to drop.
void dropout_ratio(Node& node) {
  const float ratio = node.real("ratio", 0.5F);
  node.erase("ratio");
  node.set_input(1, node.graph().add_constant(node.output()->name() + ".ratio", Tensor::scalar(ratio)));
  node.set_input(2, node.graph().add_constant(node.output()->name() + ".training_mode", Tensor::scalar(true)));
}

// Before opset 14 the training form was told by more than one output; the saved statistics (outputs 3, 4) are gone.
void batch_normalization_mode(Node& node) {
  if (node.integer("spatial", 1) == 0) {
    fail(describe(node), ": BatchNormalization with spatial=0 (statistics for every pixel) is not supported");
  }
  node.erase("spatial");
  for (int index = 4; index >= 3; --index) {
    if (node.output(index) == nullptr) continue;
    if (!node.output(index)->uses().empty())
      fail(describe(node), ": its saved statistics are used, which is not supported");
    node.drop_output(index);
  }
  if (node.outputs().size() > 1) node.set("training_mode", std::int64_t{1});
}

// Until opset 12 the input counted as a matrix whose rows end before `axis`.
void softmax_axis(Node& node) {
  const std::int64_t axis = node.integer("axis", 1);
  Value* input = node.input(0);
  const bool ranked = input->type().shape.has_value();
  if (axis == -1 || (ranked && axis == input->rank() - 1)) {
    node.set("axis", std::int64_t{-1});
    return;
  }
  Builder builder(node.graph(), node.output()->name() + ".", &node);
  Value* matrix = builder.emit("Flatten", {input}, {{"axis", axis}});
  Value* result = builder.emit(node.op_type(), {matrix}, {{"axis", std::int64_t{-1}}});
  Value* shape = builder.emit("Shape", {input});
  node.rename_operator("Reshape", "");
  node.erase("axis");
  node.set_input(0, result);
  node.set_input(1, shape);
}

void upsample_to_resize(Node& node) {
  if (node.has("scales")) {
    attribute_to_input(node, "scales", 1, [](const Node& n) {
      const auto& scales = std::get<std::vector<float>>(n.attributes().at("scales"));
      return Tensor::of<float>({static_cast<std::int64_t>(scales.size())}, scales);
    });
  }
  Value* scales = node.input(1);
  node.rename_operator("Resize", "");
  node.set_input(1, nullptr);
  node.set_input(2, scales);
  node.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.set("nearest_mode", std::string("floor"));
}

void scatter_to_scatter_elements(Node& node) { node.rename_operator("ScatterElements", ""); }

void grid_sample_mode(Node& node) {
  const std::string mode = node.string("mode", "bilinear");
  if (mode == "bilinear") node.set("mode", std::string("linear"));
  if (mode == "bicubic") node.set("mode", std::string("cubic"));
}

void roi_align_mode(Node& node) {
  if (!node.has("coordinate_transformation_mode")) {
    node.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  }
}

// Until opset 20 scale and bias had one element a group; now one a channel.
void group_normalization_parameters(Node& node) {
  const std::int64_t groups = node.integer("num_groups", 1);
  const auto& shape = node.input(0)->type().shape;
  if (!shape || !(*shape)[1].is_known()) fail(describe(node), ": its number of channels must be known");
  const std::int64_t channels = (*shape)[1].value();
  Builder builder(node.graph(), node.output()->name() + ".", &node);
  for (int input = 1; input <= 2; ++input) {
    Value* column = builder.reshape(node.input(input), {groups, 1});
    node.set_input(input, builder.reshape(builder.expand(column, {groups, channels / groups}), {channels}));
  }
}

struct Normalizer {
  std::int64_t below;  ///< applies to opsets below this one
  void (*rewrite)(Node&);
};

const std::multimap<std::string, Normalizer>& normalizers() {
  static const std::multimap<std::string, Normalizer> table = [] {
    std::multimap<std::string, Normalizer> rows = {
        {"ReduceSum", {13, reduce_axes}},
        {"Squeeze", {13, [](Node& node) { integers_to_input(node, "axes", 1); }}},
        {"Unsqueeze", {13, [](Node& node) { integers_to_input(node, "axes", 1); }}},
        {"Split", {18, split_sizes}},
        {"Slice", {10, slice_bounds}},
        {"Pad", {11, pad_amounts}},
        {"Clip", {11, clip_bounds}},
        {"TopK", {10, top_k_count}},
        {"Dropout", {12, dropout_ratio}},
        {"BatchNormalization", {14, batch_normalization_mode}},
        {"Softmax", {13, softmax_axis}},
        {"LogSoftmax", {13, softmax_axis}},
        {"Hardmax", {13, softmax_axis}},
        {"Upsample", {10, upsample_to_resize}},
        {"Resize", {11, upsample_to_resize}},
        {"Scatter", {11, scatter_to_scatter_elements}},
        {"GridSample", {20, grid_sample_mode}},
        {"RoiAlign", {16, roi_align_mode}},
        {"GroupNormalization", {21, group_normalization_parameters}},
    };
    for (const char* name : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                             "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
      rows.emplace(name, Normalizer{18, reduce_axes});
    }
    return rows;
  }();
  return table;
}

bool normalize(Node& node, std::int64_t opset) {
  bool changed = false;
  const auto [first, last] = normalizers().equal_range(node.op_type());
  for (auto row = first; row != last; ++row) {
    if (opset >= row->second.below) continue;
    row->second.rewrite(node);
    changed = true;
    break;
  }
  return changed;
}

}  // namespace

bool NormalizeOpset::run(Graph& graph) {
  const std::int64_t opset = graph.opset();
  if (opset < oldest) {
    fail("the model uses opset ", opset, "; opsets ", oldest, " to ", newest,
         " can be trained. Export it again with a newer opset");
  }
  infer_types(graph);
  // The new form is inferred by the newest schemas, helper nodes included.
  graph.opsets[""] = newest;
  graph.metadata.ir_version = newest_ir_version;
  bool changed = opset != newest;
  for (Node* node : graph.node_list()) {
    if (node->domain().empty()) changed |= normalize(*node, opset);
  }
  return changed;
}

}  // namespace ort_train::passes
