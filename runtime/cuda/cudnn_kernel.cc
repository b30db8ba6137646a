#include "runtime/cuda/cudnn_kernel.h"

#include <algorithm>

namespace ort_train::runtime::cuda {

bool CudnnKernel::add(const cudnn::OperationGraph& graph, std::vector<Operand> operands) {
  auto plan = context_.plans->find(graph);
  if (plan == nullptr) return false;
  scratchpad_bytes = std::max(scratchpad_bytes, plan->workspace_bytes());
  name += (name.empty() ? "cudnn " : ", ") + plan->name();
  steps_.push_back({std::move(plan), std::move(operands), std::vector<void*>(graph.tensors.size(), nullptr)});
  return true;
}

void CudnnKernel::bind(const Pointers& pointers) {
  workspace_ = pointers.scratchpad;
  for (Step& step : steps_) {
    for (const Operand& operand : step.operands) {
      const auto& arrays = operand.is_output ? pointers.outputs : pointers.inputs;
      step.pointers[static_cast<std::size_t>(operand.tensor)] = arrays[static_cast<std::size_t>(operand.index)];
    }
  }
}

void CudnnKernel::run() {
  for (const Step& step : steps_) step.plan->execute(context_.dnn, step.pointers, workspace_);
}

cudnn::TensorId add_tensor(cudnn::OperationGraph& graph, const Format& format) {
  return graph.add(cudnn::TensorDescription{format.dtype(), format.dims(), format.strides(), false, std::nullopt});
}

cudnn::TensorId add_channel_vector(cudnn::OperationGraph& graph, DataType dtype, std::int64_t count, std::size_t rank) {
  Dims dims(rank, 1);
  dims[1] = count;
  return graph.add_channels_last(dtype, dims);
}

cudnn::OperationGraph new_graph(const Context& context, DataType dtype) {
  cudnn::OperationGraph graph;
  graph.compute_type = dtype == DataType::float64 ? DataType::float64 : DataType::float32;
  graph.allow_tf32 = context.allow_tf32;
  graph.deterministic = true;
  return graph;
}

Dims two_axes_at_least(Dims spatial, std::int64_t filler) {
  if (spatial.size() == 1) spatial.insert(spatial.begin(), filler);
  return spatial;
}

Dims image_with_two_axes(const Dims& dims) {
  Dims image = dims;
  if (image.size() == 3) image.insert(image.begin() + 2, 1);
  return image;
}

Format image_with_two_axes(const Format& format) {
  return format.with(format.dtype(), image_with_two_axes(format.dims()));
}

}  // namespace ort_train::runtime::cuda
