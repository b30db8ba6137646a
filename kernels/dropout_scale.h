#pragma once

#include "base/error.h"

namespace ort_train::kernels {

/// What a kept element is multiplied with. At ratio 1 nothing is kept.
inline double dropout_scale(float ratio) {
  if (!(ratio >= 0.0f && ratio <= 1.0f)) fail("the ratio of Dropout is ", ratio, "; it must be from 0 to 1");
  return ratio == 1.0f ? 0.0 : 1.0 / (1.0 - static_cast<double>(ratio));
}

}  // namespace ort_train::kernels
