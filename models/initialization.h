#pragma once

#include <cstdint>

#include "base/tensor.h"

namespace ort_train::models {

/// How weights are drawn. Fan in and fan out are the numbers of inputs and outputs that one output, one input is
/// connected with: channels times the window's area.
enum class Initialization {
  glorot_uniform,  ///< U(-a, a), a = sqrt(6 / (fan in + fan out)): X. Glorot and Y. Bengio, 2010
  he_normal,       ///< N(0, 2 / fan in): K. He, X. Zhang, S. Ren and J. Sun, 2015
};

/// A float32 weight of shape [outputs, inputs, window...]. It is a function of (seed, parameter) alone, where
/// `parameter` counts the weights of a model, so a change to one layer leaves the others' weights as they were.
Tensor initial_weight(Initialization initialization, const Dims& dims, std::uint64_t seed, std::uint32_t parameter);

}  // namespace ort_train::models
