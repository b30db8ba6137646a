#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

/// The check of a function of one operand, drawn from `range`.
inline GradientCheck unary_check(const std::string& op_type, Range range = {-2, 2},
                                 const std::string& attributes = "") {
  return {.name = op_type + attributes,
          .inputs = "double[3,4] x",
          .body = "y = " + op_type + attributes + "(x)",
          .ranges = {{"", range}}};
}

inline const std::vector<GradientCheck> elementwise_checks = {
    unary_check("Abs"),
    unary_check("Neg"),
    unary_check("Exp"),
    unary_check("Log", {0.2, 3}),
    unary_check("Sqrt", {0.2, 3}),
    unary_check("Reciprocal", {0.3, 2}),
    unary_check("Reciprocal", {-2, -0.3}),
    unary_check("Sin"),
    unary_check("Cos"),
    unary_check("Tan", {-1, 1}),
    unary_check("Asin", {-0.9, 0.9}),
    unary_check("Acos", {-0.9, 0.9}),
    unary_check("Atan"),
    unary_check("Sinh"),
    unary_check("Cosh"),
    unary_check("Tanh"),
    unary_check("Asinh"),
    unary_check("Acosh", {1.2, 3}),
    unary_check("Atanh", {-0.9, 0.9}),
    unary_check("Erf"),
};

}  // namespace ort_train::tests
