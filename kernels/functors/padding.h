#pragma once

#include <cstdint>

#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

enum class PadMode { constant, reflect, edge, wrap };

/// Where the elements of one padded axis come from. A negative pad first cuts the input off; the other side then
/// repeats what is left.
struct PaddedAxis {
  static constexpr std::int64_t outside = -1;

  PadMode mode = PadMode::constant;
  std::int64_t padded = 0;           ///< its extent
  std::int64_t begin = 0;            ///< pad in front, not below 0
  std::int64_t first = 0, left = 0;  ///< what remains of the input

  /// The position in the input of element `i`, or `outside`.
  ORT_TRAIN_HOST_DEVICE std::int64_t source(std::int64_t i) const {
    const std::int64_t position = i - begin;
    if (position >= 0 && position < left) return position + first;
    switch (mode) {
      case PadMode::constant: return outside;
      case PadMode::edge: return first + (position < 0 ? 0 : left - 1);
      case PadMode::wrap: return first + remainder(position, left);
      case PadMode::reflect: break;
    }
    if (left == 1) return first;
    const std::int64_t period = 2 * (left - 1);
    const std::int64_t within = remainder(position, period);
    return first + (within < period - within ? within : period - within);
  }

 private:
  ORT_TRAIN_HOST_DEVICE static std::int64_t remainder(std::int64_t position, std::int64_t period) {
    return (position % period + period) % period;
  }
};

}  // namespace ort_train::kernels::functors
