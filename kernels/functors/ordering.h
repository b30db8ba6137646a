#pragma once

#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// Strict order of numbers in which NaN stands above all others, and equal NaNs beside each other, as in NumPy.
struct Above {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a > b || (a != a && b == b);
  }
};

/// The reverse order, except that NaN comes first here, too.
struct Below {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b || (a != a && b == b);
  }
};

}  // namespace ort_train::kernels::functors
