#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/functors/host_device.h"

// Optimizer steps of one weight, T = float or double. Coefficients are computed once, in double, for all weights.
namespace ort_train::kernels::functors {

/// Stochastic gradient descent as in PyTorch: g += weight_decay w; b = momentum b + g; the step is b or, with
/// Nesterov's look-ahead, g + momentum b. A buffer of zeros makes the first step b = g.
template <typename T>
struct Sgd {
  T learning_rate, weight_decay, momentum;
  bool nesterov;

  ORT_TRAIN_HOST_DEVICE T without_momentum(T weight, T gradient) const {
    return weight - learning_rate * (gradient + weight_decay * weight);
  }

  /// `buffer` is updated.
  ORT_TRAIN_HOST_DEVICE T with_momentum(T weight, T gradient, T& buffer) const {
    const T decayed = gradient + weight_decay * weight;
    buffer = momentum * buffer + decayed;
    return weight - learning_rate * (nesterov ? decayed + momentum * buffer : buffer);
  }
};

/// Adam (Kingma and Ba, 2015), and AdamW (Loshchilov and Hutter, 2019) where the decay is decoupled from the gradient.
template <typename T>
struct Adam {
  T beta1, beta2, gradient_share, square_share;  // the shares are 1 - beta
  T step_size;                                   // learning_rate / (1 - beta1^step)
  T root_correction;                             // 1 / sqrt(1 - beta2^step)
  T epsilon;
  T gradient_decay;  // of Adam: times the weight, added to the gradient
  T kept;            // of AdamW: the share of the weight that is left by its decay

  /// Steps are counted from 1.
  ORT_TRAIN_HOST_DEVICE static Adam at_step(std::int64_t step, double learning_rate, double beta1, double beta2,
                                            double epsilon, double weight_decay, bool decoupled) {
    const auto exponent = static_cast<double>(step);
    Adam adam;
    adam.beta1 = static_cast<T>(beta1);
    adam.beta2 = static_cast<T>(beta2);
    adam.gradient_share = static_cast<T>(1 - beta1);
    adam.square_share = static_cast<T>(1 - beta2);
    adam.step_size = static_cast<T>(learning_rate / (1 - std::pow(beta1, exponent)));
    adam.root_correction = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2, exponent)));
    adam.epsilon = static_cast<T>(epsilon);
    adam.gradient_decay = static_cast<T>(decoupled ? 0 : weight_decay);
    adam.kept = static_cast<T>(decoupled ? 1 - learning_rate * weight_decay : 1);
    return adam;
  }

  /// The new weight; both moments are updated.
  ORT_TRAIN_HOST_DEVICE T operator()(T weight, T gradient, T& first_moment, T& second_moment) const {
    const T decayed = gradient + gradient_decay * weight;
    first_moment = beta1 * first_moment + gradient_share * decayed;
    second_moment = beta2 * second_moment + square_share * decayed * decayed;
    return kept * weight - step_size * first_moment / (std::sqrt(second_moment) * root_correction + epsilon);
  }
};

}  // namespace ort_train::kernels::functors
