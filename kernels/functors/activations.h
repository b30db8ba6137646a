#pragma once

#include <cmath>

#include "kernels/functors/host_device.h"

// Activation functions by the formulas of the ONNX operators of the same names, arranged so that they neither overflow
// nor cancel. T is float or double unless a comment says more. NaN stays NaN, so that a diverged run is seen.
// Members are the attributes, with their defaults in ONNX.
namespace ort_train::kernels::functors {

/// Integers too.
struct Relu {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

struct LeakyRelu {
  float alpha = 0.01f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x < T(0) ? T(alpha) * x : x;
  }
};

/// A slope for each element; integers too.
struct ParametricRelu {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x, T slope) const {
    return x < T(0) ? static_cast<T>(slope * x) : x;
  }
};

struct ThresholdedRelu {
  float alpha = 1.0f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x <= T(alpha) ? T(0) : x;
  }
};

struct Elu {
  float alpha = 1.0f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x < T(0) ? T(alpha) * std::expm1(x) : x;
  }
};

struct Selu {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return T(gamma) * (x < T(0) ? T(alpha) * std::expm1(x) : x);
  }
};

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)); for alpha < 0 both terms count.
struct Celu {
  float alpha = 1.0f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T bent = T(alpha) * std::expm1(x / T(alpha));
    return (x < T(0) ? T(0) : x) + (bent > T(0) ? T(0) : bent);
  }
};

struct Sigmoid {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T e = std::exp(-std::fabs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
};

struct HardSigmoid {
  float alpha = 0.2f;
  float beta = 0.5f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T line = T(alpha) * x + T(beta);
    return line < T(0) ? T(0) : line > T(1) ? T(1) : line;
  }
};

/// HardSigmoid with alpha = 1/6 and beta = 0.5, times x.
struct HardSwish {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T gate = x + T(3);
    return x * (gate < T(0) ? T(0) : gate > T(6) ? T(6) : gate) / T(6);
  }
};

struct Swish {
  float alpha = 1.0f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x * Sigmoid{}(T(alpha) * x);
  }
};

struct Softplus {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::fabs(x)));
  }
};

struct Softsign {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x / (T(1) + std::fabs(x));
  }
};

/// x * tanh(softplus(x)); with e = exp(-|x|) the tanh is (1 + 2e) / (1 + 2e + 2e^2) for x >= 0, and
/// (e^2 + 2e) / (e^2 + 2e + 2) below.
struct Mish {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T e = std::exp(-std::fabs(x));
    const T numerator = x < T(0) ? e * (e + T(2)) : T(1) + T(2) * e;
    const T denominator = numerator + (x < T(0) ? T(2) : T(2) * e * e);
    return x * (numerator / denominator);
  }
};

/// x times the normal distribution function; erfc keeps the digits of the left tail.
struct Gelu {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440));
  }
};

/// Gelu with approximate = "tanh": 0.5 * (1 + tanh(u)) is sigmoid(2u).
struct GeluTanh {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
    return x * Sigmoid{}(T(2) * u);
  }
};

/// Integers too, computed in float64.
struct Shrink {
  float lambd = 0.5f;
  float bias = 0.0f;
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    return x < T(-lambd) ? x + T(bias) : x > T(lambd) ? x - T(bias) : x == x ? T(0) : x;
  }
};

/// Any number type; where low > high the result is high.
template <typename T>
struct Clip {
  T low, high;
  ORT_TRAIN_HOST_DEVICE T operator()(T x) const {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

// Derivatives, from the gradient dy of the result and the result y.

struct ReluGradient {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T dy, T y) const {
    return y <= T(0) ? T(0) : dy;
  }
};

struct SigmoidGradient {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * y * (T(1) - y);
  }
};

struct TanhGradient {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * (T(1) - y) * (T(1) + y);
  }
};

}  // namespace ort_train::kernels::functors
