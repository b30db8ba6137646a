#include "tests/cuda/operation_graphs.h"

#include <cmath>

namespace ort_train::test {

namespace cudnn = runtime::cuda::cudnn;
using cudnn::TensorId;

namespace {

OperationGraph new_graph(DataType type) {
  OperationGraph graph;
  if (type == DataType::float64) graph.compute_type = DataType::float64;
  return graph;
}

/// Parameters and statistics stay in the arithmetic's type.
DataType parameter_type(DataType type) { return type == DataType::float64 ? type : DataType::float32; }

bool is_comparison(PointwiseMode mode) { return mode >= PointwiseMode::greater && mode <= PointwiseMode::logical_or; }

int operand_count(PointwiseMode mode) {
  if (mode == PointwiseMode::select) return 3;
  return mode < PointwiseMode::add ? 1 : 2;
}

Dims per_channel(const Dims& dims) {
  Dims result(dims.size(), 1);
  result[1] = dims[1];
  return result;
}

Dims statistics_dims(NormalizationKind kind, const Dims& dims) {
  Dims result(dims.size(), 1);
  if (kind != NormalizationKind::batch) result[0] = dims[0];
  if (kind == NormalizationKind::batch || kind == NormalizationKind::instance) result[1] = dims[1];
  return result;
}

cudnn::PoolingWindow pooling_window(PoolingMode mode, std::int64_t window, std::int64_t padding, std::int64_t stride) {
  return {mode, {window, window}, {padding, padding}, {padding, padding}, {stride, stride}};
}

Dims pooled(const Dims& image, std::int64_t window, std::int64_t padding, std::int64_t stride) {
  Dims result = image;
  for (std::size_t axis = 2; axis < result.size(); ++axis) {
    result[axis] = (image[axis] + 2 * padding - window) / stride + 1;
  }
  return result;
}

}  // namespace

Dims ConvolutionShape::response() const {
  Dims result{image[0], filter[0]};
  for (std::size_t axis = 0; axis + 2 < image.size(); ++axis) {
    const std::int64_t reach = dilations[axis] * (filter[axis + 2] - 1) + 1;
    result.push_back((image[axis + 2] + pads_begin[axis] + pads_end[axis] - reach) / strides[axis] + 1);
  }
  return result;
}

ConvolutionShape convolution_2d(Dims image, std::int64_t filters, std::int64_t window, std::int64_t padding,
                                std::int64_t stride, std::int64_t dilation, std::int64_t groups) {
  Dims filter{filters, image[1] / groups, window, window};
  return {std::move(image),   std::move(filter), {padding, padding},
          {padding, padding}, {stride, stride},  {dilation, dilation}};
}

OperationGraph convolution(ConvolutionPass pass, const ConvolutionShape& shape, DataType type) {
  OperationGraph graph = new_graph(type);
  cudnn::Convolution operation;
  operation.pass = pass;
  operation.image = graph.add_channels_last(type, shape.image);
  operation.filter = graph.add_channels_last(type, shape.filter);
  operation.response = graph.add_channels_last(type, shape.response());
  operation.pads_begin = shape.pads_begin;
  operation.pads_end = shape.pads_end;
  operation.strides = shape.strides;
  operation.dilations = shape.dilations;
  graph.add(operation);
  return graph;
}

OperationGraph convolution_bias_relu(const ConvolutionShape& shape, DataType type) {
  OperationGraph graph = new_graph(type);
  const TensorId image = graph.add_channels_last(type, shape.image);
  const TensorId filter = graph.add_channels_last(type, shape.filter);
  const TensorId bias = graph.add_channels_last(type, per_channel(shape.response()));
  const TensorId y = graph.add_channels_last(type, shape.response());
  const TensorId product = graph.add_virtual_like(y);
  const TensorId sum = graph.add_virtual_like(y);
  graph.add(cudnn::Convolution{ConvolutionPass::forward, image, filter, product, shape.pads_begin, shape.pads_end,
                               shape.strides, shape.dilations});
  graph.add(cudnn::Pointwise{.mode = PointwiseMode::add, .a = product, .b = bias, .out = sum});
  graph.add(cudnn::Pointwise{.mode = PointwiseMode::relu, .a = sum, .out = y});
  return graph;
}

OperationGraph pointwise(PointwiseMode mode, const Dims& dims, DataType type) {
  OperationGraph graph = new_graph(type);
  cudnn::Pointwise operation;
  operation.mode = mode;
  const bool logical = mode == PointwiseMode::logical_and || mode == PointwiseMode::logical_or;
  const DataType operand_type = logical ? DataType::boolean : type;
  if (logical) graph.compute_type = DataType::boolean;
  operation.a = graph.add_channels_last(operand_type, dims);
  if (operand_count(mode) > 1) operation.b = graph.add_channels_last(operand_type, dims);
  if (operand_count(mode) > 2) operation.c = graph.add_channels_last(DataType::boolean, dims);
  operation.out = graph.add_channels_last(is_comparison(mode) ? DataType::boolean : type, dims);
  graph.add(operation);
  return graph;
}

OperationGraph reduction(ReductionMode mode, const Dims& from, const Dims& to, DataType type) {
  OperationGraph graph = new_graph(type);
  const TensorId x = graph.add_channels_last(type, from);
  const TensorId out = graph.add_channels_last(parameter_type(type), to);
  graph.add(cudnn::Reduction{mode, x, out});
  return graph;
}

OperationGraph matrix_product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DataType type) {
  OperationGraph graph = new_graph(type);
  const TensorId a = graph.add_row_major(type, {batch, m, k});
  const TensorId b = graph.add_row_major(type, {batch, k, n});
  const TensorId out = graph.add_row_major(type, {batch, m, n});
  graph.add(cudnn::MatrixProduct{a, b, out});
  return graph;
}

OperationGraph normalization_forward(NormalizationKind kind, const Dims& dims, DataType type) {
  OperationGraph graph = new_graph(type);
  const DataType parameters = parameter_type(type);
  const bool rms = kind == NormalizationKind::rms;
  cudnn::NormalizationForward operation;
  operation.kind = kind;
  operation.x = graph.add_channels_last(type, dims);
  operation.scale = graph.add_channels_last(parameters, per_channel(dims));
  if (!rms) operation.bias = graph.add_channels_last(parameters, per_channel(dims));
  operation.y = graph.add_channels_last(type, dims);
  const Dims statistics = statistics_dims(kind, dims);
  if (!rms) operation.mean = graph.add_channels_last(parameters, statistics);
  operation.inverse_deviation = graph.add_channels_last(parameters, statistics);
  graph.add(operation);
  return graph;
}

OperationGraph normalization_backward(NormalizationKind kind, const Dims& dims, DataType type) {
  OperationGraph graph = new_graph(type);
  const DataType parameters = parameter_type(type);
  const bool rms = kind == NormalizationKind::rms;
  const Dims statistics = statistics_dims(kind, dims);
  cudnn::NormalizationBackward operation;
  operation.kind = kind;
  operation.x = graph.add_channels_last(type, dims);
  operation.y_gradient = graph.add_channels_last(type, dims);
  operation.scale = graph.add_channels_last(parameters, per_channel(dims));
  if (!rms) operation.mean = graph.add_channels_last(parameters, statistics);
  operation.inverse_deviation = graph.add_channels_last(parameters, statistics);
  operation.x_gradient = graph.add_channels_last(type, dims);
  operation.scale_gradient = graph.add_channels_last(parameters, per_channel(dims));
  if (!rms) operation.bias_gradient = graph.add_channels_last(parameters, per_channel(dims));
  graph.add(operation);
  return graph;
}

OperationGraph batch_normalization_add_relu(const Dims& dims, DataType type) {
  OperationGraph graph = new_graph(type);
  const DataType parameters = parameter_type(type);
  cudnn::NormalizationForward normalization;
  normalization.x = graph.add_channels_last(type, dims);
  normalization.scale = graph.add_channels_last(parameters, per_channel(dims));
  normalization.bias = graph.add_channels_last(parameters, per_channel(dims));
  const TensorId residual = graph.add_channels_last(type, dims);
  const TensorId y = graph.add_channels_last(type, dims);
  normalization.mean = graph.add_channels_last(parameters, per_channel(dims));
  normalization.inverse_deviation = graph.add_channels_last(parameters, per_channel(dims));
  normalization.y = graph.add_virtual_like(y);
  const TensorId sum = graph.add_virtual_like(y);
  graph.add(normalization);
  graph.add(cudnn::Pointwise{.mode = PointwiseMode::add, .a = normalization.y, .b = residual, .out = sum});
  graph.add(cudnn::Pointwise{.mode = PointwiseMode::relu, .a = sum, .out = y});
  return graph;
}

OperationGraph batch_normalization_relu_backward(const Dims& dims, DataType type) {
  OperationGraph graph = new_graph(type);
  const DataType parameters = parameter_type(type);
  cudnn::NormalizationBackward backward;
  backward.x = graph.add_channels_last(type, dims);
  const TensorId output = graph.add_channels_last(type, dims);
  const TensorId output_gradient = graph.add_channels_last(type, dims);
  backward.scale = graph.add_channels_last(parameters, per_channel(dims));
  backward.mean = graph.add_channels_last(parameters, per_channel(dims));
  backward.inverse_deviation = graph.add_channels_last(parameters, per_channel(dims));
  backward.x_gradient = graph.add_channels_last(type, dims);
  backward.scale_gradient = graph.add_channels_last(parameters, per_channel(dims));
  backward.bias_gradient = graph.add_channels_last(parameters, per_channel(dims));
  const TensorId zero = graph.add_scalar(parameters, 0, dims.size());
  const TensorId mask = graph.add_virtual_like(output, DataType::boolean);
  // cuDNN has no engine when this one is wider than the operands.
  backward.y_gradient = graph.add_virtual_like(output, type);
  graph.add(cudnn::Pointwise{.mode = PointwiseMode::greater, .a = output, .b = zero, .out = mask});
  graph.add(
      cudnn::Pointwise{.mode = PointwiseMode::multiply, .a = output_gradient, .b = mask, .out = backward.y_gradient});
  graph.add(backward);
  return graph;
}

OperationGraph pooling_forward(PoolingMode mode, const Dims& image, std::int64_t window, std::int64_t padding,
                               std::int64_t stride, DataType type, bool with_index) {
  OperationGraph graph = new_graph(type);
  cudnn::PoolingForward operation;
  operation.window = pooling_window(mode, window, padding, stride);
  operation.x = graph.add_channels_last(type, image);
  operation.y = graph.add_channels_last(type, pooled(image, window, padding, stride));
  if (with_index) operation.index = graph.add_channels_last(DataType::int8, pooled(image, window, padding, stride));
  graph.add(operation);
  return graph;
}

OperationGraph pooling_backward(PoolingMode mode, const Dims& image, std::int64_t window, std::int64_t padding,
                                std::int64_t stride, DataType type) {
  OperationGraph graph = new_graph(type);
  const Dims small = pooled(image, window, padding, stride);
  cudnn::PoolingBackward operation;
  operation.window = pooling_window(mode, window, padding, stride);
  operation.y_gradient = graph.add_channels_last(type, small);
  operation.x_gradient = graph.add_channels_last(type, image);
  if (mode == PoolingMode::maximum) operation.index = graph.add_channels_last(DataType::int8, small);
  graph.add(operation);
  return graph;
}

OperationGraph attention_forward(std::int64_t batch, std::int64_t heads, std::int64_t sequence, std::int64_t width,
                                 bool causal, bool bias, DataType type) {
  OperationGraph graph = new_graph(type);
  const Dims dims{batch, heads, sequence, width};
  cudnn::AttentionForward operation;
  operation.query = graph.add_row_major(type, dims);
  operation.key = graph.add_row_major(type, dims);
  operation.value = graph.add_row_major(type, dims);
  operation.output = graph.add_row_major(type, dims);
  operation.statistics = graph.add_row_major(parameter_type(type), {batch, heads, sequence, 1});
  if (bias) operation.bias = graph.add_row_major(type, {1, heads, sequence, sequence});
  operation.scale = 1 / std::sqrt(static_cast<double>(width));
  operation.causal = causal;
  graph.add(operation);
  return graph;
}

OperationGraph attention_backward(std::int64_t batch, std::int64_t heads, std::int64_t sequence, std::int64_t width,
                                  bool causal, bool bias, DataType type) {
  OperationGraph graph = new_graph(type);
  const Dims dims{batch, heads, sequence, width};
  cudnn::AttentionBackward operation;
  operation.query = graph.add_row_major(type, dims);
  operation.key = graph.add_row_major(type, dims);
  operation.value = graph.add_row_major(type, dims);
  operation.output = graph.add_row_major(type, dims);
  operation.output_gradient = graph.add_row_major(type, dims);
  operation.statistics = graph.add_row_major(parameter_type(type), {batch, heads, sequence, 1});
  operation.query_gradient = graph.add_row_major(type, dims);
  operation.key_gradient = graph.add_row_major(type, dims);
  operation.value_gradient = graph.add_row_major(type, dims);
  if (bias) operation.bias = graph.add_row_major(type, {1, heads, sequence, sequence});
  operation.scale = 1 / std::sqrt(static_cast<double>(width));
  operation.causal = causal;
  graph.add(operation);
  return graph;
}

}  // namespace ort_train::test
