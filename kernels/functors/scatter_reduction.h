#pragma once

#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// What becomes of an element that is updated.
enum class ScatterReduction { none, add, mul, max, min };

/// `T` is a type of computation.
template <typename T>
ORT_TRAIN_HOST_DEVICE T reduced(ScatterReduction reduction, T old, T update) {
  switch (reduction) {
    case ScatterReduction::none: return update;
    case ScatterReduction::add: return static_cast<T>(old + update);
    case ScatterReduction::mul: return static_cast<T>(old * update);
    case ScatterReduction::max: return old < update ? update : old;
    case ScatterReduction::min: return update < old ? update : old;
  }
  return update;
}

}  // namespace ort_train::kernels::functors
