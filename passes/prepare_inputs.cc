#include "passes/prepare_inputs.h"

#include "graph/builder.h"
#include "kernels/functors/rendered_image.h"

namespace ort_train::passes {

using graph::Builder;
using graph::Graph;
using graph::Type;
using graph::Value;

namespace {

Value* in_extents(Builder& builder, Value* value, const Dims& dims) {
  return value->dims() == dims ? value : builder.reshape(value, dims);
}

Value* rendered(Builder& builder, Value* images, const InputPreparation::Image& image, const std::string& input) {
  const Dims placements = {images->dims()[0], kernels::functors::RenderedImage::placement_size};
  Value* placement = builder.graph().add_input(placement_input(input), Type(DataType::float32, placements));
  return builder.emit_training("RenderImages", {images, placement},
                               {{"height", image.height},
                                {"width", image.width},
                                {"fill", std::string(name_of(image.fill))},
                                {"fill_value", image.fill_value}});
}

/// From the axes of the data to those of the model's input, by way of [samples, channels, height, width].
Value* shown(Builder& builder, Value* data, const InputPreparation::Image& image, const std::string& input) {
  const std::int64_t samples = data->dims()[0];
  const bool as_they_lie = image.data_channels_last == image.channels_last || image.channels == 1;
  if (!image.rendered && as_they_lie) return data;
  if (image.data_channels_last) {
    data = in_extents(builder, data, {samples, image.data_height, image.data_width, image.channels});
    data = builder.transpose(data, {0, 3, 1, 2});
  } else {
    data = in_extents(builder, data, {samples, image.channels, image.data_height, image.data_width});
  }
  if (image.rendered) data = rendered(builder, data, image, input);
  return image.channels_last ? builder.transpose(data, {0, 2, 3, 1}) : data;
}

/// In float64 where the model's input is, else in float32, rounded once.
Value* normalized(Builder& builder, Value* samples, const InputPreparation& preparation, DataType dtype) {
  const DataType computed = dtype == DataType::float64 ? dtype : DataType::float32;
  const auto constant = [&](const Tensor& elements) { return builder.cast(builder.constant(elements), computed); };
  if (!preparation.factor.defined() && !preparation.offset.defined()) return builder.cast(samples, dtype);
  samples = builder.cast(samples, computed);
  if (preparation.factor.defined()) samples = builder.mul(samples, constant(preparation.factor));
  if (preparation.offset.defined()) samples = builder.add(samples, constant(preparation.offset));
  return builder.cast(samples, dtype);
}

void prepare(Graph& graph, Value* input, const InputPreparation& preparation) {
  const std::string name = input->name();
  const Dims dims = input->dims();
  Dims data_dims = preparation.dims;
  data_dims.insert(data_dims.begin(), dims.at(0));
  Builder builder(graph, name + ".", graph.nodes().empty() ? nullptr : graph.nodes().front().get());
  Value* value = graph.add_input(data_input(name), Type(preparation.dtype, data_dims));
  if (preparation.image) value = shown(builder, value, *preparation.image, name);
  value = normalized(builder, in_extents(builder, value, dims), preparation, input->dtype());
  graph.replace_uses(input, value);
  graph.remove(input);
}

}  // namespace

std::string data_input(const std::string& input) { return "ort_train.data." + input; }
std::string placement_input(const std::string& input) { return "ort_train.placement." + input; }

bool PrepareInputs::run(Graph& graph) {
  bool changed = false;
  for (Value* input : std::vector<Value*>(graph.inputs())) {
    const auto found = preparations_.find(input->name());
    if (found == preparations_.end()) continue;
    prepare(graph, input, found->second);
    changed = true;
  }
  return changed;
}

}  // namespace ort_train::passes
