#pragma once

#include <cmath>

#include "kernels/functors/host_device.h"

// Losses of one prediction and its target, each with its derivative for the prediction. T is float or double.
namespace ort_train::kernels::functors {

struct SquaredError {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T prediction, T target) const {
    return (prediction - target) * (prediction - target);
  }
};

struct SquaredErrorDerivative {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T prediction, T target) const {
    return T(2) * (prediction - target);
  }
};

struct AbsoluteError {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T prediction, T target) const {
    return std::fabs(prediction - target);
  }
};

/// 0 at 0; NaN stays NaN.
struct AbsoluteErrorDerivative {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T prediction, T target) const {
    const T difference = prediction - target;
    return difference > T(0) ? T(1) : difference < T(0) ? T(-1) : difference;
  }
};

/// Of a probability p; each logarithm is clamped at -100, as in PyTorch, so that p = 0 and p = 1 have a finite loss.
struct BinaryCrossEntropy {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T p, T target) const {
    return -(target * clamped(std::log(p)) + (T(1) - target) * clamped(std::log1p(-p)));
  }

 private:
  template <typename T>
  ORT_TRAIN_HOST_DEVICE static T clamped(T logarithm) {
    return logarithm < T(-100) ? T(-100) : logarithm;
  }
};

/// (p - target) / max((1 - p) p, 1e-12), PyTorch's.
struct BinaryCrossEntropyDerivative {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T p, T target) const {
    const T variance = (T(1) - p) * p;
    return (p - target) / (variance < T(1e-12) ? T(1e-12) : variance);
  }
};

/// BinaryCrossEntropy of sigmoid(y): max(y, 0) - y target + log(1 + exp(-|y|)).
struct BinaryCrossEntropyWithLogits {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T y, T target) const {
    return (y < T(0) ? T(0) : y) - y * target + std::log1p(std::exp(-std::fabs(y)));
  }
};

/// sigmoid(y) - target, without cancellation where a large y meets its target.
struct BinaryCrossEntropyWithLogitsDerivative {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T y, T target) const {
    const T e = std::exp(-std::fabs(y));
    const T smaller = e / (T(1) + e);  // sigmoid(-|y|)
    return y < T(0) ? smaller - target : (T(1) - target) - smaller;
  }
};

/// The derivative of -log softmax(scores)[label] for one score, from its log-probability.
struct SoftmaxCrossEntropyDerivative {
  template <typename T>
  ORT_TRAIN_HOST_DEVICE T operator()(T log_probability, bool is_label) const {
    return is_label ? std::expm1(log_probability) : std::exp(log_probability);
  }
};

}  // namespace ort_train::kernels::functors
