#include "models/layers.h"

#include <algorithm>

#include "base/error.h"
#include "graph/shape_inference.h"
#include "graph/verifier.h"

namespace ort_train::models {

namespace {

constexpr std::int64_t opset = 17;
constexpr std::int64_t ir_version = 8;

graph::Attributes window_attributes(Window window) {
  return {{"kernel_shape", std::vector<std::int64_t>(2, window.size)},
          {"strides", std::vector<std::int64_t>(2, window.stride)},
          {"pads", std::vector<std::int64_t>(4, window.padding)}};
}

void check_window_fits(const Value* x, Window window, const std::string& layer) {
  for (const std::size_t axis : {2, 3}) {
    if (extent(x, axis) + 2 * window.padding >= window.size) continue;
    fail_usage(x->graph().name, ": the input is too small: '", layer, "' slides a window of ", window.size, "x",
               window.size, " over ", to_string(x->type()), "; choose a larger height and width");
  }
}

}  // namespace

std::int64_t extent(const Value* value, std::size_t axis) {
  const auto& shape = value->type().shape;
  if (!shape || axis >= shape->size() || !(*shape)[axis].is_known()) {
    fail("'", value->name(), "' is ", to_string(value->type()), ": extent ", axis, " is no number");
  }
  return (*shape)[axis].value();
}

Layers::Layers(std::string model, LayerSettings settings) : graph_(std::make_unique<Graph>()), settings_(settings) {
  graph_->name = std::move(model);
  graph_->opsets[""] = opset;
  graph_->metadata.ir_version = ir_version;
  graph_->metadata.producer_name = "ort-train";
}

Value* Layers::input(const std::string& name, const Dims& extents) {
  graph::Shape shape{graph::Dimension(std::string("N"))};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return graph_->add_input(name, graph::Type(DataType::float32, shape));
}

Value* Layers::conv(Value* x, const std::string& name, std::int64_t channels, Window window, bool bias) {
  check_window_fits(x, window, name);
  std::vector<Value*> inputs = {x, weight(name + ".weight", {channels, extent(x, 1), window.size, window.size})};
  if (bias) inputs.push_back(filled(name + ".bias", graph::Role::parameter, channels, 0));
  return emit("Conv", name, inputs, window_attributes(window));
}

Value* Layers::batch_normalization(Value* x, const std::string& name) {
  const std::int64_t channels = extent(x, 1);
  Value* scale = filled(name + ".scale", graph::Role::parameter, channels, 1);
  Value* bias = filled(name + ".bias", graph::Role::parameter, channels, 0);
  Value* mean = filled(name + ".running_mean", graph::Role::running_statistic, channels, 0);
  Value* variance = filled(name + ".running_var", graph::Role::running_statistic, channels, 1);
  return emit("BatchNormalization", name, {x, scale, bias, mean, variance},
              {{"epsilon", settings_.normalization.epsilon}, {"momentum", settings_.normalization.momentum}});
}

Value* Layers::dense(Value* x, const std::string& name, std::int64_t outputs) {
  Value* matrix = weight(name + ".weight", {outputs, extent(x, 1)});
  Value* bias = filled(name + ".bias", graph::Role::parameter, outputs, 0);
  return emit("Gemm", name, {x, matrix, bias}, {{"transB", std::int64_t{1}}});
}

Value* Layers::max_pool(Value* x, const std::string& name, Window window, bool partial_windows) {
  graph::Attributes attributes;
  if (partial_windows) attributes["ceil_mode"] = std::int64_t{1};
  return pool("MaxPool", x, name, window, std::move(attributes));
}

Value* Layers::average_pool(Value* x, const std::string& name, Window window) {
  return pool("AveragePool", x, name, window, {});
}

Value* Layers::global_average_pool(Value* x, const std::string& name) { return emit("GlobalAveragePool", name, {x}); }

Value* Layers::dropout(Value* x, const std::string& name, float ratio) {
  Value* constant = graph_->add_initializer(name + ".ratio", graph::Role::constant, Tensor::scalar(ratio));
  return emit("Dropout", name, {x, constant});
}

Value* Layers::softmax(Value* x, const std::string& name) {
  return emit("Softmax", name, {x}, {{"axis", std::int64_t{-1}}});
}

Value* Layers::flatten(Value* x, const std::string& name) {
  return emit("Flatten", name, {x}, {{"axis", std::int64_t{1}}});
}

Value* Layers::concat(const std::vector<Value*>& parts, const std::string& name) {
  return emit("Concat", name, parts, {{"axis", std::int64_t{1}}});
}

std::unique_ptr<Graph> Layers::finish(Value* output) {
  graph_->add_output(output);
  graph::verify(*graph_, graph_->name);
  return std::move(graph_);
}

Value* Layers::emit(const std::string& op_type, const std::string& name, std::vector<Value*> inputs,
                    graph::Attributes attributes) {
  graph::Node* node = graph_->add_node(op_type, "", std::move(inputs), {name}, std::move(attributes), name);
  graph::infer_types(*node);
  return node->output();
}

Value* Layers::pool(const std::string& op_type, Value* x, const std::string& name, Window window,
                    graph::Attributes attributes) {
  check_window_fits(x, window, name);
  attributes.merge(window_attributes(window));
  return emit(op_type, name, {x}, std::move(attributes));
}

Value* Layers::weight(const std::string& name, const Dims& dims) {
  Tensor elements = initial_weight(settings_.initialization, dims, settings_.seed, weights_++);
  return graph_->add_initializer(name, graph::Role::parameter, std::move(elements));
}

Value* Layers::filled(const std::string& name, graph::Role role, std::int64_t size, float element) {
  Tensor elements(DataType::float32, {size});
  std::fill_n(elements.data<float>(), size, element);
  return graph_->add_initializer(name, role, std::move(elements));
}

}  // namespace ort_train::models
