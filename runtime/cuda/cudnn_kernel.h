#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/cudnn/operation_graph.h"
#include "runtime/cuda/cudnn/plan.h"
#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// An instruction that cuDNN carries out: one plan, or several one after the other.
class CudnnKernel : public Kernel {
 public:
  explicit CudnnKernel(const Context& context) : context_(context) {}

  /// Which tensor of an operation graph is which input or output of the node.
  struct Operand {
    cudnn::TensorId tensor = cudnn::absent;
    bool is_output = false;
    int index = 0;
  };

  /// False when cuDNN has no engine for the graph on this device; the kernel is of no use then.
  bool add(const cudnn::OperationGraph& graph, std::vector<Operand> operands);

  void bind(const Pointers& pointers) override;
  void run() override;

 private:
  struct Step {
    std::shared_ptr<const cudnn::Plan> plan;
    std::vector<Operand> operands;
    std::vector<void*> pointers;  // one a tensor
  };

  const Context& context_;
  std::vector<Step> steps_;
  void* workspace_ = nullptr;
};

/// The array as an operand; extents may be others than the graph sees, with `format`'s layout.
cudnn::TensorId add_tensor(cudnn::OperationGraph& graph, const Format& format);
/// [count] numbers as [1, count, 1, ...] of that rank.
cudnn::TensorId add_channel_vector(cudnn::OperationGraph& graph, DataType dtype, std::int64_t count, std::size_t rank);

/// Arithmetic of graphs over elements of this type: float64 for float64, else float32.
cudnn::OperationGraph new_graph(const Context& context, DataType dtype);

/// cuDNN knows windows over two and three axes; one axis is written as two, of which the first is 1.
Dims two_axes_at_least(Dims spatial, std::int64_t filler);
/// The same for [N, C, spatial...].
Dims image_with_two_axes(const Dims& dims);
Format image_with_two_axes(const Format& format);

}  // namespace ort_train::runtime::cuda
