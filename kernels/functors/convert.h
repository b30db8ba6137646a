#pragma once

#include <limits>
#include <type_traits>

#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// A number as another number type, by the rules of ONNX's Cast: floating point to integer truncates, integer to
/// narrower integer keeps the low bits, everything but 0 is true. Where ONNX leaves the result open (a floating-point
/// number outside of the integer's range), it is the nearest end of the range, and 0 for NaN.
template <typename To>
struct Convert {
  template <typename From>
  ORT_TRAIN_HOST_DEVICE To operator()(From x) const {
    if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      // 2^digits, just above the range, is exact in every floating-point type.
      constexpr From above = From(2) * static_cast<From>(To(1) << (std::numeric_limits<To>::digits - 1));
      if (x != x) return To(0);
      if (x >= above) return std::numeric_limits<To>::max();
      if (x <= (std::is_signed_v<To> ? -above : From(0))) return std::numeric_limits<To>::min();
      return static_cast<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

}  // namespace ort_train::kernels::functors
