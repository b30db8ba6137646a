#pragma once

#include <memory>

#include "runtime/cuda/cudnn/plan.h"

namespace ort_train::runtime::cuda::cudnn {

/// Batch normalization in training and its gradient by cuDNN's older calls, which take what its graphs have no engine
/// for: GPUs older than compute capability 8.0, numbers of channels that do not fill 16 bytes, float64. Null unless the
/// graph is one normalization of kind batch, without running statistics, on float32, float64 or float16 of rank 4 or 5.
std::shared_ptr<const Plan> legacy_batch_normalization(const OperationGraph& graph);

}  // namespace ort_train::runtime::cuda::cudnn
