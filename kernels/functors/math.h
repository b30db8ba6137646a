#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/functors/host_device.h"

// Mathematical functions of one number. T is float or double unless a comment says more.
namespace ort_train::kernels::functors {

struct Exp {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::exp(x);
  }
};

struct Log {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::log(x);
  }
};

struct Sqrt {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct Reciprocal {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};

struct Floor {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::floor(x);
  }
};

struct Ceil {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::ceil(x);
  }
};

/// Halves go to the even neighbour.
struct Round {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::nearbyint(x);
  }
};

struct Sin {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::sin(x);
  }
};

struct Cos {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::cos(x);
  }
};

struct Tan {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::tan(x);
  }
};

struct Asin {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::asin(x);
  }
};

struct Acos {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::acos(x);
  }
};

struct Atan {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::atan(x);
  }
};

struct Sinh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::sinh(x);
  }
};

struct Cosh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::cosh(x);
  }
};

struct Tanh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::tanh(x);
  }
};

struct Asinh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::asinh(x);
  }
};

struct Acosh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::acosh(x);
  }
};

struct Atanh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::atanh(x);
  }
};

struct Erf {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return std::erf(x);
  }
};

/// Integers too; the most negative one is its own absolute value.
struct Abs {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else if constexpr (std::is_signed_v<T>) {
      return x < 0 ? static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x)) : x;
    } else {
      return x;
    }
  }
};

/// Integers too, modulo 2^bits.
struct Negate {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
    }
  }
};

/// Integers too; NaN stays NaN.
struct Sign {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }
};

struct BitwiseNot {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

struct IsNaN {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T x) const {
    return std::isnan(x);
  }
};

struct IsInfinite {
  bool negative, positive;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T x) const {
    return std::isinf(x) && (x < T(0) ? negative : positive);
  }
};

/// Numbers of any type, and bool.
struct Identity {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x;
  }
};

}  // namespace ort_train::kernels::functors
