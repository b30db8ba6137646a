// MaxPool, AveragePool with its gradient and GlobalAveragePool by cuDNN, channels-last.
#include <algorithm>
#include <optional>

#include "kernels/window.h"
#include "runtime/cuda/cudnn_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

using cudnn::OperationGraph;
using cudnn::PoolingMode;

bool is_image(const Dims& dims) { return dims.size() >= 3 && dims.size() <= 5; }

Format channels_last(const Format& plain) { return Format::channels_last(plain.dtype(), plain.dims()); }

/// Nothing where cuDNN knows no such window. A window of ceil_mode reaches beyond the padding; that counts as padding
/// for a maximum and for an average that leaves padding out, not for one that counts it.
std::optional<cudnn::PoolingWindow> to_pooling_window(const kernels::Window& window, PoolingMode mode) {
  cudnn::PoolingWindow pooling;
  pooling.mode = mode;
  Dims ends = window.end_pads;
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    if (window.dilations[axis] != 1 || window.begin_pads[axis] < 0 || window.end_pads[axis] < 0) return std::nullopt;
    // Every window must meet the input somewhere.
    if (window.begin_pads[axis] >= window.kernel[axis]) return std::nullopt;
    const std::int64_t reach = (window.output[axis] - 1) * window.strides[axis] + window.kernel[axis];
    const std::int64_t needed = reach - window.input[axis] - window.begin_pads[axis];
    if (needed > ends[axis] && mode == PoolingMode::average_with_padding) return std::nullopt;
    ends[axis] = std::max<std::int64_t>(needed, 0);
    if (ends[axis] >= window.kernel[axis]) return std::nullopt;
  }
  pooling.window = two_axes_at_least(window.kernel, 1);
  pooling.pads_begin = two_axes_at_least(window.begin_pads, 0);
  pooling.pads_end = two_axes_at_least(ends, 0);
  pooling.strides = two_axes_at_least(window.strides, 1);
  return pooling;
}

std::optional<cudnn::PoolingWindow> window_of(const graph::Node& node, const Dims& image, PoolingMode mode) {
  return to_pooling_window(kernels::forward_window(node, kernels::spatial_dims(image), node.integers("kernel_shape")),
                           mode);
}

/// One window over the whole image.
cudnn::PoolingWindow global_window(const Dims& image) {
  cudnn::PoolingWindow pooling;
  pooling.mode = PoolingMode::average_without_padding;
  pooling.window = two_axes_at_least(kernels::spatial_dims(image), 1);
  pooling.strides = Dims(pooling.window.size(), 1);
  pooling.pads_begin = pooling.pads_end = Dims(pooling.window.size(), 0);
  return pooling;
}

PoolingMode average_mode(const graph::Node& node) {
  return node.integer("count_include_pad", 0) != 0 ? PoolingMode::average_with_padding
                                                   : PoolingMode::average_without_padding;
}

std::unique_ptr<Kernel> make_forward(const Request& request, const cudnn::PoolingWindow& window) {
  const Format x = channels_last(request.plain_input(0)), y = channels_last(request.plain_output(0));
  OperationGraph graph = new_graph(request.context, x.dtype());
  cudnn::PoolingForward pooling;
  pooling.window = window;
  pooling.x = add_tensor(graph, image_with_two_axes(x));
  pooling.y = add_tensor(graph, image_with_two_axes(y));
  graph.add(pooling);
  auto kernel = std::make_unique<CudnnKernel>(request.context);
  if (!kernel->add(graph, {{pooling.x, false, 0}, {pooling.y, true, 0}})) return nullptr;
  kernel->inputs = {x};
  kernel->outputs = {y};
  return kernel;
}

std::unique_ptr<Kernel> make_max_pool(const Request& request) {
  const Dims image = request.plain_input(0).dims();
  if (!is_image(image) || request.has_output(1)) return nullptr;
  const auto window = window_of(request.node, image, PoolingMode::maximum);
  return window ? make_forward(request, *window) : nullptr;
}

std::unique_ptr<Kernel> make_average_pool(const Request& request) {
  const Dims image = request.plain_input(0).dims();
  if (!is_image(image)) return nullptr;
  const auto window = window_of(request.node, image, average_mode(request.node));
  return window ? make_forward(request, *window) : nullptr;
}

std::unique_ptr<Kernel> make_global_average_pool(const Request& request) {
  const Dims image = request.plain_input(0).dims();
  return is_image(image) ? make_forward(request, global_window(image)) : nullptr;
}

std::unique_ptr<Kernel> make_average_pool_gradient(const Request& request) {
  const Format dy = channels_last(request.plain_input(0)), dx = channels_last(request.plain_output(0));
  if (!is_image(dx.dims())) return nullptr;
  const auto window = window_of(request.node, dx.dims(), average_mode(request.node));
  if (!window) return nullptr;
  OperationGraph graph = new_graph(request.context, dx.dtype());
  cudnn::PoolingBackward pooling;
  pooling.window = *window;
  pooling.y_gradient = add_tensor(graph, image_with_two_axes(dy));
  pooling.x_gradient = add_tensor(graph, image_with_two_axes(dx));
  graph.add(pooling);
  auto kernel = std::make_unique<CudnnKernel>(request.context);
  if (!kernel->add(graph, {{pooling.y_gradient, false, 0}, {pooling.x_gradient, true, 0}})) return nullptr;
  kernel->inputs = {dy};
  kernel->outputs = {dx};
  return kernel;
}

const FactoryRegistration max_pool("MaxPool", make_max_pool);
const FactoryRegistration average_pool("AveragePool", make_average_pool);
const FactoryRegistration global_average_pool("GlobalAveragePool", make_global_average_pool);
const TrainingFactoryRegistration average_pool_gradient("AveragePoolGrad", make_average_pool_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
