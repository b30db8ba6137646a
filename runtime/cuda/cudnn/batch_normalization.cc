#include "runtime/cuda/cudnn/batch_normalization.h"

#include "base/error.h"

namespace ort_train::runtime::cuda::cudnn {
namespace {

/// What the older calls take as 1 and 0 in the type of the parameters.
struct Factors {
  float one = 1, zero = 0;
  double double_one = 1, double_zero = 0;
};

void require(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) fail("cuDNN failed at ", what, ": ", cudnnGetErrorString(status));
}

cudnnDataType_t legacy_type(DataType type) {
  if (type == DataType::float64) return CUDNN_DATA_DOUBLE;
  return type == DataType::float16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

class Descriptor {
 public:
  Descriptor() { require(cudnnCreateTensorDescriptor(&descriptor_), "a tensor descriptor"); }
  explicit Descriptor(const TensorDescription& tensor) : Descriptor() {
    const std::vector<int> dims(tensor.dims.begin(), tensor.dims.end());
    const std::vector<int> strides(tensor.strides.begin(), tensor.strides.end());
    require(cudnnSetTensorNdDescriptor(descriptor_, legacy_type(tensor.type), static_cast<int>(dims.size()),
                                       dims.data(), strides.data()),
            "a tensor descriptor");
  }
  ~Descriptor() { cudnnDestroyTensorDescriptor(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  cudnnTensorDescriptor_t get() const { return descriptor_; }

 private:
  cudnnTensorDescriptor_t descriptor_ = nullptr;
};

class LegacyPlan : public Plan {
 public:
  LegacyPlan(const OperationGraph& graph, TensorId x)
      : x_(graph.tensors[static_cast<std::size_t>(x)]),
        double_precision_(graph.tensors[static_cast<std::size_t>(x)].type == DataType::float64) {
    require(cudnnDeriveBNTensorDescriptor(parameters_.get(), x_.get(), mode), "a batch normalization");
  }

  std::size_t workspace_bytes() const override { return 0; }

 protected:
  static constexpr cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;

  cudnnTensorDescriptor_t x() const { return x_.get(); }
  cudnnTensorDescriptor_t parameters() const { return parameters_.get(); }
  const void* one() const { return double_precision_ ? static_cast<const void*>(&factors_.double_one) : &factors_.one; }
  const void* zero() const {
    return double_precision_ ? static_cast<const void*>(&factors_.double_zero) : &factors_.zero;
  }

 private:
  Descriptor x_, parameters_;
  bool double_precision_;
  Factors factors_;
};

class LegacyForward : public LegacyPlan {
 public:
  LegacyForward(const OperationGraph& graph, const NormalizationForward& operation)
      : LegacyPlan(graph, operation.x), y_(graph.tensors[static_cast<std::size_t>(operation.y)]), ids_(operation) {}

  std::string name() const override { return "cudnnBatchNormalizationForwardTraining"; }

  void execute(cudnnHandle_t handle, std::span<void* const> pointers, void*) const override {
    const auto at = [&](TensorId id) { return pointers[static_cast<std::size_t>(id)]; };
    require(cudnnBatchNormalizationForwardTraining(handle, mode, one(), zero(), x(), at(ids_.x), y_.get(), at(ids_.y),
                                                   parameters(), at(ids_.scale), at(ids_.bias), 1.0, nullptr, nullptr,
                                                   ids_.epsilon, at(ids_.mean), at(ids_.inverse_deviation)),
            "batch normalization");
  }

 private:
  Descriptor y_;
  NormalizationForward ids_;
};

class LegacyBackward : public LegacyPlan {
 public:
  LegacyBackward(const OperationGraph& graph, const NormalizationBackward& operation)
      : LegacyPlan(graph, operation.x),
        y_gradient_(graph.tensors[static_cast<std::size_t>(operation.y_gradient)]),
        x_gradient_(graph.tensors[static_cast<std::size_t>(operation.x_gradient)]),
        ids_(operation) {}

  std::string name() const override { return "cudnnBatchNormalizationBackward"; }

  void execute(cudnnHandle_t handle, std::span<void* const> pointers, void*) const override {
    const auto at = [&](TensorId id) { return pointers[static_cast<std::size_t>(id)]; };
    // With the saved statistics epsilon is not used, but has to be a valid one.
    require(cudnnBatchNormalizationBackward(handle, mode, one(), zero(), one(), zero(), x(), at(ids_.x),
                                            y_gradient_.get(), at(ids_.y_gradient), x_gradient_.get(),
                                            at(ids_.x_gradient), parameters(), at(ids_.scale), at(ids_.scale_gradient),
                                            at(ids_.bias_gradient), 1e-5, at(ids_.mean), at(ids_.inverse_deviation)),
            "the gradient of batch normalization");
  }

 private:
  Descriptor y_gradient_, x_gradient_;
  NormalizationBackward ids_;
};

/// Whether the older calls take such an operand; parameters are float32, or float64 with float64.
bool takes(const OperationGraph& graph, TensorId x, TensorId scale) {
  const TensorDescription& image = graph.tensors[static_cast<std::size_t>(x)];
  const DataType parameters = graph.tensors[static_cast<std::size_t>(scale)].type;
  const bool rank = image.dims.size() == 4 || image.dims.size() == 5;
  if (image.type == DataType::float64) return rank && parameters == DataType::float64;
  return rank && parameters == DataType::float32 &&
         (image.type == DataType::float32 || image.type == DataType::float16);
}

}  // namespace

std::shared_ptr<const Plan> legacy_batch_normalization(const OperationGraph& graph) {
  if (graph.operations.size() != 1) return nullptr;
  if (const auto* forward = std::get_if<NormalizationForward>(&graph.operations.front())) {
    const bool plain = forward->kind == NormalizationKind::batch && forward->running_mean == absent;
    // The calls refuse a smaller one.
    const bool epsilon = forward->epsilon >= CUDNN_BN_MIN_EPSILON;
    if (plain && epsilon && takes(graph, forward->x, forward->scale)) {
      return std::make_shared<LegacyForward>(graph, *forward);
    }
  }
  if (const auto* backward = std::get_if<NormalizationBackward>(&graph.operations.front())) {
    if (backward->kind == NormalizationKind::batch && takes(graph, backward->x, backward->scale)) {
      return std::make_shared<LegacyBackward>(graph, *backward);
    }
  }
  return nullptr;
}

}  // namespace ort_train::runtime::cuda::cudnn
