// cuDNN's older calls for batch normalization, computed as the operations of its graphs are.
#include <memory>

#include "tests/virtual_gpu/cudnn_device.h"
#include "tests/virtual_gpu/cudnn_elements.h"
#include "tests/virtual_gpu/cudnn_handle.h"

namespace virtual_gpu {
namespace {

/// A program of one node, made operand by operand.
class Call {
 public:
  Call(const char* name, cudnnBackendDescriptorType_t type) {
    program_->name = name;
    node_.type = type;
    node_.mode = CUDNN_BATCH_NORM;
  }

  void input(Role role, cudnnTensorDescriptor_t descriptor, const void* memory) {
    node_.inputs[role] = add(descriptor, const_cast<void*>(memory), false);
  }
  void output(Role role, cudnnTensorDescriptor_t descriptor, void* memory) {
    if (memory != nullptr) node_.outputs[role] = add(descriptor, memory, true);
  }
  void number(Role role, double value) {
    CudnnTensor tensor;
    tensor.type = CUDNN_DATA_DOUBLE;
    tensor.dims = tensor.strides = {1};
    tensor.by_value = true;
    numbers_->push_back(value);
    node_.inputs[role] = static_cast<int>(program_->tensors.size());
    program_->tensors.push_back(tensor);
    memory_.push_back(nullptr);
    number_ids_.push_back(node_.inputs[role]);
  }

  cudnnStatus_t enqueue(cudnnHandle_t handle) {
    const CudnnHandle* ours = cudnn_handle(handle);
    if (ours == nullptr) return CUDNN_STATUS_BAD_PARAM;
    for (std::size_t i = 0; i < number_ids_.size(); ++i) {
      memory_[static_cast<std::size_t>(number_ids_[i])] = &(*numbers_)[i];
    }
    program_->double_precision = program_->tensors.front().type == CUDNN_DATA_DOUBLE;
    program_->nodes.push_back(node_);
    const bool taken =
        cudnn_enqueue(ours->stream, program_->name, accesses_, [program = program_, memory = memory_, keep = numbers_] {
          try {
            compute(*program, memory);
          } catch (const std::exception& error) {
            cudnn_report(program->name + ": " + error.what());
          }
        });
    return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

 private:
  int add(cudnnTensorDescriptor_t descriptor, void* memory, bool writes) {
    static auto* get = real_cudnn<decltype(cudnnGetTensorNdDescriptor)>("cudnnGetTensorNdDescriptor");
    CudnnTensor tensor;
    int rank = 0, dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
    get(descriptor, CUDNN_DIM_MAX, &tensor.type, &rank, dims, strides);
    tensor.dims.assign(dims, dims + rank);
    tensor.strides.assign(strides, strides + rank);
    accesses_.push_back({memory, static_cast<std::size_t>(tensor.span()) * bytes_of(tensor.type), writes});
    program_->tensors.push_back(std::move(tensor));
    memory_.push_back(memory);
    return static_cast<int>(memory_.size()) - 1;
  }

  std::shared_ptr<CudnnProgram> program_ = std::make_shared<CudnnProgram>();
  CudnnNode node_;
  std::vector<void*> memory_;
  std::vector<CudnnAccess> accesses_;
  std::shared_ptr<std::vector<double>> numbers_ = std::make_shared<std::vector<double>>();
  std::vector<int> number_ids_;
};

/// 1 and 0, in the type of the parameters.
bool is_plain(cudnnTensorDescriptor_t parameters, const void* alpha, const void* beta) {
  static auto* get = real_cudnn<decltype(cudnnGetTensorNdDescriptor)>("cudnnGetTensorNdDescriptor");
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0, dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
  get(parameters, CUDNN_DIM_MAX, &type, &rank, dims, strides);
  if (type == CUDNN_DATA_DOUBLE)
    return *static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0;
  return *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
}

cudnnStatus_t refuse(const char* call) {
  cudnn_report(std::string(call) + " with this mode, these factors or running statistics is not computed here");
  return CUDNN_STATUS_NOT_SUPPORTED;
}

bool is_spatial(cudnnBatchNormMode_t mode) {
  return mode == CUDNN_BATCHNORM_SPATIAL || mode == CUDNN_BATCHNORM_SPATIAL_PERSISTENT;
}

}  // namespace
}  // namespace virtual_gpu

extern "C" {

cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha,
                                                     const void* beta, const cudnnTensorDescriptor_t x_descriptor,
                                                     const void* x, const cudnnTensorDescriptor_t y_descriptor, void* y,
                                                     const cudnnTensorDescriptor_t parameters, const void* scale,
                                                     const void* bias, double, void* running_mean,
                                                     void* running_variance, double epsilon, void* mean,
                                                     void* inverse_deviation) {
  using virtual_gpu::Role;
  if (!virtual_gpu::is_spatial(mode) || !virtual_gpu::is_plain(parameters, alpha, beta) || running_mean != nullptr ||
      running_variance != nullptr || inverse_deviation == nullptr) {
    return virtual_gpu::refuse("cudnnBatchNormalizationForwardTraining");
  }
  if (epsilon < CUDNN_BN_MIN_EPSILON) return CUDNN_STATUS_BAD_PARAM;
  virtual_gpu::Call call("cudnnBatchNormalizationForwardTraining", CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  call.input(Role::x, x_descriptor, x);
  call.input(Role::scale, parameters, scale);
  call.input(Role::bias, parameters, bias);
  call.number(Role::epsilon, epsilon);
  call.output(Role::y, y_descriptor, y);
  call.output(Role::mean, parameters, mean);
  call.output(Role::inverse_deviation, parameters, inverse_deviation);
  return call.enqueue(handle);
}

cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* data_alpha,
                                              const void* data_beta, const void* parameter_alpha,
                                              const void* parameter_beta, const cudnnTensorDescriptor_t x_descriptor,
                                              const void* x, const cudnnTensorDescriptor_t dy_descriptor,
                                              const void* dy, const cudnnTensorDescriptor_t dx_descriptor, void* dx,
                                              const cudnnTensorDescriptor_t parameters, const void* scale,
                                              void* scale_gradient, void* bias_gradient, double, const void* mean,
                                              const void* inverse_deviation) {
  using virtual_gpu::Role;
  if (!virtual_gpu::is_spatial(mode) || !virtual_gpu::is_plain(parameters, data_alpha, data_beta) ||
      !virtual_gpu::is_plain(parameters, parameter_alpha, parameter_beta) || mean == nullptr ||
      inverse_deviation == nullptr) {
    return virtual_gpu::refuse("cudnnBatchNormalizationBackward");
  }
  virtual_gpu::Call call("cudnnBatchNormalizationBackward", CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  call.input(Role::x, x_descriptor, x);
  call.input(Role::dy, dy_descriptor, dy);
  call.input(Role::scale, parameters, scale);
  call.input(Role::mean, parameters, mean);
  call.input(Role::inverse_deviation, parameters, inverse_deviation);
  call.output(Role::dx, dx_descriptor, dx);
  call.output(Role::dscale, parameters, scale_gradient);
  call.output(Role::dbias, parameters, bias_gradient);
  return call.enqueue(handle);
}

}  // extern "C"
