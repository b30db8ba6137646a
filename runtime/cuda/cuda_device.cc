#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "passes/collectives.h"
#include "runtime/cuda/executable.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/nccl/communicator.h"
#include "runtime/cuda/watch.h"

namespace ort_train::runtime::cuda {

namespace {

int count_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaErrorNoDevice) check(status, "count the GPUs");
  cudaGetLastError();
  return count;
}

cudaDeviceProp properties_of(int index) {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, index), "describe the GPU");
  return properties;
}

/// How many there are; at least one.
int require_devices() {
  int count = 0, driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) fail_usage("CUDA finds no NVIDIA driver (libcuda.so.1); install one");
  try {
    count = count_devices();
  } catch (const Error& error) {
    fail_usage(error.what());
  }
  if (count == 0) {
    fail_usage("this process sees no NVIDIA GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
  return count;
}

/// The handles of one GPU, and the Context made of them.
class Handles {
 public:
  Handles(int index, const CudaOptions& options) : activation_(index) {
    check(cudnnCreate(&dnn_), "start on this GPU");
    check(cudnnSetStream(dnn_, compute_), "use a stream");
    check(cublasLtCreate(&blas_), "start on this GPU");
    const cudaDeviceProp properties = properties_of(index);
    name_ = properties.name;
    context_.device = index;
    context_.compute_capability = 10 * properties.major + properties.minor;
    context_.allow_tf32 = options.tf32;
    context_.compute = compute_;
    context_.communication = communication_;
    context_.watch = std::make_shared<Watch>();
    context_.dnn = dnn_;
    context_.blas = blas_;
    cudnn::PlannerOptions planner;
    planner.cache_folder = options.plan_cache;
    context_.plans = cudnn::Planner::shared(dnn_, planner);
  }
  ~Handles() {
    cudaSetDevice(context_.device);
    if (dnn_ != nullptr) cudnnDestroy(dnn_);
    if (blas_ != nullptr) cublasLtDestroy(blas_);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  const Context& context() const { return context_; }
  const std::string& name() const { return name_; }

 private:
  /// Streams belong to the device that is current when they are made.
  struct Activation {
    explicit Activation(int index) { check(cudaSetDevice(index), "use the GPU"); }
  };

  Activation activation_;
  Stream compute_, communication_;
  cudnnHandle_t dnn_ = nullptr;
  cublasLtHandle_t blas_ = nullptr;
  Context context_;
  std::string name_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(int index, const CudaOptions& options)
      : options_(options), handles_(std::make_shared<Handles>(index, options)) {}

  std::string name() const override { return text("cuda:", context().device, " (", handles_->name(), ")"); }

  std::shared_ptr<State> make_state() override { return std::make_shared<CudaState>(shared_context()); }

  std::unique_ptr<Executable> compile(const graph::Graph& graph, std::shared_ptr<State> state,
                                      const CompileOptions& options) override {
    auto cuda_state = std::dynamic_pointer_cast<CudaState>(state);
    if (cuda_state == nullptr) fail("the state belongs to another device than ", name());
    context().activate();
    return std::make_unique<CudaExecutable>(graph, std::move(cuda_state), shared_context(),
                                            communicator_for(graph, options.collective),
                                            CudaExecutable::Options{options, options_.capture});
  }

 private:
  const Context& context() const { return handles_->context(); }
  std::shared_ptr<const Context> shared_context() const { return {handles_, &handles_->context()}; }

  // One for all graphs of the replica that need it.
  Communicator* communicator_for(const graph::Graph& graph, Collective* collective) {
    const bool needed = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                    [](const auto& node) { return passes::is_collective(*node); });
    if (collective == nullptr || !needed) return nullptr;
    std::shared_ptr<Communicator>& communicator = communicators_[collective];
    if (communicator == nullptr) {
      communicator = std::make_shared<Communicator>(*collective);
      context().watch->look_after(communicator);
    }
    return communicator.get();
  }

  CudaOptions options_;
  std::shared_ptr<Handles> handles_;
  std::map<Collective*, std::shared_ptr<Communicator>> communicators_;
};

std::unique_ptr<Device> make_device(int index, const CudaOptions& options) {
  return std::make_unique<CudaDevice>(index, options);
}

CudaDeviceDescription describe(int index) {
  CudaDeviceDescription description;
  description.index = index;
  // One GPU that has failed, or that another process has for itself, hides no other.
  try {
    const cudaDeviceProp properties = properties_of(index);
    description.name = properties.name;
    description.compute_capability = 10 * properties.major + properties.minor;
    description.total_bytes = properties.totalGlobalMem;
    check(cudaSetDevice(index), "use the GPU");
    check(cudaMemGetInfo(&description.free_bytes, &description.total_bytes), "tell how much memory is free");
  } catch (const Error& error) {
    description.problem = error.what();
  }
  return description;
}

std::vector<CudaDeviceDescription> devices() {
  std::vector<CudaDeviceDescription> descriptions(static_cast<std::size_t>(require_devices()));
  for (std::size_t i = 0; i < descriptions.size(); ++i) descriptions[i] = describe(static_cast<int>(i));
  return descriptions;
}

}  // namespace

}  // namespace ort_train::runtime::cuda

extern "C" __attribute__((visibility("default")))
const ort_train::runtime::cuda::EntryPoints ort_train_cuda_entry_points = {ort_train::runtime::cuda::make_device,
                                                                           ort_train::runtime::cuda::require_devices,
                                                                           ort_train::runtime::cuda::devices};
