#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/functors/host_device.h"

// Arithmetic and comparisons of two numbers of one type T: float, double or an integer. Integers wrap modulo 2^bits.
namespace ort_train::kernels::functors {

/// An unsigned type at least as wide as `unsigned`, in which nothing overflows: products of uint16 would, as int.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(std::uint32_t)), std::uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    }
  }
};

struct Subtract {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a - b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    }
  }
};

struct Multiply {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    }
  }
};

/// Integer quotients are rounded towards zero; b must not be the integer 0.
struct Divide {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return Subtract{}(T(0), a);  // the most negative number has no positive counterpart
      }
      return static_cast<T>(a / b);
    }
  }
};

/// a - trunc(a / b) * b, with the sign of a; b must not be the integer 0.
struct TruncatedRemainder {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T(0);
      }
      return static_cast<T>(a % b);
    }
  }
};

/// a - floor(a / b) * b, with the sign of b; b must not be the integer 0.
struct FlooredRemainder {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    const T remainder = TruncatedRemainder{}(a, b);
    if constexpr (std::is_floating_point_v<T>) {
      if (remainder == T(0)) return std::copysign(T(0), b);
    }
    if (remainder == T(0) || (remainder < T(0)) == (b < T(0))) return remainder;
    return static_cast<T>(remainder + b);
  }
};

/// NaN if either is NaN.
struct Minimum {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

/// NaN if either is NaN.
struct Maximum {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

/// Float or double.
struct Power {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T base, T exponent) const {
    return std::pow(base, exponent);
  }
};

/// Of an integer, modulo 2^bits; for a negative exponent the quotient 1 / base^|exponent|, rounded towards zero, where
/// base must not be 0.
struct IntegerPower {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T base, std::int64_t exponent) const {
    if (exponent < 0) {
      if (base == T(1)) return T(1);
      return base == T(-1) ? (exponent % 2 == 0 ? T(1) : T(-1)) : T(0);
    }
    T power = T(1);
    for (T square = base; exponent != 0; exponent /= 2) {
      if (exponent % 2 != 0) power = Multiply{}(power, square);
      square = Multiply{}(square, square);
    }
    return power;
  }
};

/// bool too.
struct Equal {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Greater {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }
};

struct Less {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct GreaterOrEqual {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct LessOrEqual {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

/// Integers and bool.
struct BitwiseAnd {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

/// Integers and bool.
struct BitwiseOr {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

/// Integers and bool.
struct BitwiseXor {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// Integers; bits that leave are lost, and a distance outside [0, bits) moves all of them out.
struct ShiftLeft {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x, T distance) const {
    if (distance < T(0) || static_cast<std::uint64_t>(distance) >= 8 * sizeof(T)) return T(0);
    return static_cast<T>(static_cast<Wrapping<T>>(x) << distance);
  }
};

/// Integers; copies of the sign bit come in.
struct ShiftRight {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x, T distance) const {
    if (distance < T(0) || static_cast<std::uint64_t>(distance) >= 8 * sizeof(T)) return x < T(0) ? T(-1) : T(0);
    return static_cast<T>(x >> distance);
  }
};

}  // namespace ort_train::kernels::functors
