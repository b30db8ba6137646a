#pragma once

#include "base/tensor.h"
#include "kernels/arguments.h"

namespace ort_train::kernels {

/// log(softmax(x)) along one axis of a dense array, T = float or double: x - (max + log(sum(exp(x - max)))), with the
/// sum and the logarithm in double. `target` may be `source`.
template <typename T>
void log_softmax(const T* source, const AxisView& view, T* target);

}  // namespace ort_train::kernels
