#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/gradient_check.h"

namespace ort_train::tests {

/// Elements by the name of a value.
using Arrays = std::map<std::string, std::vector<double>>;

/// The gradients that an operator gives for some gradients of its outputs.
struct KnownGradient {
  std::string inputs, body;  ///< in ONNX text, as those of a GradientCheck
  Arrays elements;
  Arrays output_gradients;
  Arrays expected;
  std::string initializers = "";

  GradientCheck graph() const;
};

/// y' of a function of one operand at some points.
struct KnownDerivative {
  std::string op_type, attributes;
  std::vector<double> x, derivative;

  KnownGradient gradient() const;
};

inline const double log_3 = std::log(3.0);

/// Compares what autodiff and the plain kernels give with what is known; reports to doctest.
void check(const KnownGradient& known);

}  // namespace ort_train::tests
