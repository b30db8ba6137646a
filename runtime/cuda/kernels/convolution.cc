// Conv, ConvGradInput (also the forward of ConvTranspose) and ConvGradWeight by cuDNN, channels-last.
#include <optional>

#include "kernels/window.h"
#include "runtime/cuda/cudnn_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

using cudnn::ConvolutionPass;
using cudnn::OperationGraph;
using cudnn::TensorId;

bool is_image(const Dims& dims) { return dims.size() >= 3 && dims.size() <= 5; }

Format channels_last(const Format& plain) { return Format::channels_last(plain.dtype(), plain.dims()); }

/// The window of the node as cuDNN wants it, over an input image of these extents. Nothing for negative padding.
std::optional<cudnn::Convolution> convolution_of(const graph::Node& node, const Dims& image, const Dims& weight,
                                                 ConvolutionPass pass) {
  const kernels::Window window =
      kernels::forward_window(node, kernels::spatial_dims(image), kernels::spatial_dims(weight));
  for (const Dims* pads : {&window.begin_pads, &window.end_pads}) {
    for (const std::int64_t pad : *pads) {
      if (pad < 0) return std::nullopt;
    }
  }
  cudnn::Convolution convolution;
  convolution.pass = pass;
  convolution.pads_begin = two_axes_at_least(window.begin_pads, 0);
  convolution.pads_end = two_axes_at_least(window.end_pads, 0);
  convolution.strides = two_axes_at_least(window.strides, 1);
  convolution.dilations = two_axes_at_least(window.dilations, 1);
  return convolution;
}

/// The three arrays of a convolution, whichever of them is computed.
struct Arrays {
  Format image, weight, response;
};

/// Adds them to the graph and says which is which.
void add_arrays(OperationGraph& graph, cudnn::Convolution& convolution, const Arrays& arrays) {
  convolution.image = add_tensor(graph, image_with_two_axes(arrays.image));
  convolution.filter = add_tensor(graph, image_with_two_axes(arrays.weight));
  convolution.response = add_tensor(graph, image_with_two_axes(arrays.response));
}

std::unique_ptr<Kernel> make_convolution(const Request& request) {
  const Arrays arrays{channels_last(request.plain_input(0)), channels_last(request.plain_input(1)),
                      channels_last(request.plain_output(0))};
  if (!is_image(arrays.image.dims())) return nullptr;
  auto convolution = convolution_of(request.node, arrays.image.dims(), arrays.weight.dims(), ConvolutionPass::forward);
  if (!convolution) return nullptr;
  OperationGraph graph = new_graph(request.context, arrays.image.dtype());
  add_arrays(graph, *convolution, arrays);
  const TensorId result = convolution->response;
  std::vector<CudnnKernel::Operand> operands = {
      {convolution->image, false, 0}, {convolution->filter, false, 1}, {result, true, 0}};
  if (request.has_input(2)) {
    convolution->response = graph.add_virtual_like(result);
    cudnn::Pointwise addition;
    addition.mode = cudnn::PointwiseMode::add;
    addition.a = convolution->response;
    addition.b = add_channel_vector(graph, request.plain_input(2).dtype(), request.plain_input(2).size(),
                                    image_with_two_axes(arrays.image.dims()).size());
    addition.out = result;
    operands.push_back({addition.b, false, 2});
    graph.add(*convolution);
    graph.add(addition);
  } else {
    graph.add(*convolution);
  }
  auto kernel = std::make_unique<CudnnKernel>(request.context);
  if (!kernel->add(graph, std::move(operands))) return nullptr;
  kernel->inputs = request.plain_inputs();
  kernel->inputs[0] = arrays.image;
  kernel->inputs[1] = arrays.weight;
  kernel->outputs = {arrays.response};
  return kernel;
}

std::unique_ptr<Kernel> make_gradient_of_input(const Request& request) {
  const Arrays arrays{channels_last(request.plain_output(0)), channels_last(request.plain_input(1)),
                      channels_last(request.plain_input(0))};
  if (!is_image(arrays.image.dims())) return nullptr;
  auto convolution =
      convolution_of(request.node, arrays.image.dims(), arrays.weight.dims(), ConvolutionPass::data_gradient);
  if (!convolution) return nullptr;
  OperationGraph graph = new_graph(request.context, arrays.image.dtype());
  add_arrays(graph, *convolution, arrays);
  graph.add(*convolution);
  auto kernel = std::make_unique<CudnnKernel>(request.context);
  if (!kernel->add(
          graph, {{convolution->response, false, 0}, {convolution->filter, false, 1}, {convolution->image, true, 0}})) {
    return nullptr;
  }
  kernel->inputs = {arrays.response, arrays.weight};
  kernel->outputs = {arrays.image};
  return kernel;
}

/// The gradient of the bias: dY summed over everything but the channels.
bool add_bias_gradient(CudnnKernel& kernel, const Context& context, const Format& response) {
  OperationGraph graph = new_graph(context, response.dtype());
  const Format image = image_with_two_axes(response);
  cudnn::Reduction sum;
  sum.x = add_tensor(graph, image);
  sum.out = add_channel_vector(graph, response.dtype(), image.dims()[1], image.dims().size());
  graph.add(sum);
  return kernel.add(graph, {{sum.x, false, 0}, {sum.out, true, 1}});
}

std::unique_ptr<Kernel> make_gradient_of_weight(const Request& request) {
  const Arrays arrays{channels_last(request.plain_input(1)), channels_last(request.plain_output(0)),
                      channels_last(request.plain_input(0))};
  if (!is_image(arrays.image.dims())) return nullptr;
  auto convolution =
      convolution_of(request.node, arrays.image.dims(), arrays.weight.dims(), ConvolutionPass::filter_gradient);
  if (!convolution) return nullptr;
  OperationGraph graph = new_graph(request.context, arrays.image.dtype());
  add_arrays(graph, *convolution, arrays);
  graph.add(*convolution);
  auto kernel = std::make_unique<CudnnKernel>(request.context);
  if (!kernel->add(
          graph, {{convolution->response, false, 0}, {convolution->image, false, 1}, {convolution->filter, true, 0}})) {
    return nullptr;
  }
  if (request.has_output(1) && !add_bias_gradient(*kernel, request.context, arrays.response)) return nullptr;
  kernel->inputs = {arrays.response, arrays.image};
  kernel->outputs = request.plain_outputs();
  kernel->outputs[0] = arrays.weight;
  return kernel;
}

const FactoryRegistration convolution("Conv", make_convolution);
const TrainingFactoryRegistration gradient_of_input("ConvGradInput", make_gradient_of_input);
const TrainingFactoryRegistration gradient_of_weight("ConvGradWeight", make_gradient_of_weight);

}  // namespace

}  // namespace ort_train::runtime::cuda
