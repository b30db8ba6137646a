#pragma once

// Runs cuDNN plans on arrays of the host and compares what they give.

#include <map>
#include <memory>

#include "runtime/cuda/cudnn/plan.h"
#include "tests/cuda/operation_graphs.h"

namespace ort_train::test {

using Operands = std::map<runtime::cuda::cudnn::TensorId, Tensor>;

/// A handle and a planner of the device that cuDNN sees.
class Execution {
 public:
  Execution();
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  runtime::cuda::cudnn::Planner& planner() { return *planner_; }
  cudnnHandle_t handle() { return handle_; }

  /// Elements in float64 and in row-major order, whatever the layout and type of the graph's tensors; all that its
  /// operations make, but for virtual tensors. Fails the test when there is no plan.
  Operands run(const OperationGraph& graph, const Operands& inputs);

 private:
  cudnnHandle_t handle_ = nullptr;
  std::unique_ptr<runtime::cuda::cudnn::Planner> planner_;
};

/// `values` rounded to `type`, in float64 again.
Tensor rounded(const Tensor& values, DataType type);

/// Equal but for `tolerance`, relative to the elements larger than 1.
void check_close(const Tensor& actual, const Tensor& expected, double tolerance, const std::string& what);

/// How far results in `type` may be off: 1e-5 in float32, which is also the arithmetic of the 16-bit types.
double tolerance_of(DataType type);

}  // namespace ort_train::test
