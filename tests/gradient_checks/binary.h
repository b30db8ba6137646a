#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

/// The check of a function of two operands that are broadcast against each other.
inline GradientCheck broadcast_check(const std::string& op_type, Range a = {-1, 1}, Range b = {-1, 1}) {
  return {.name = op_type + " with broadcasting",
          .inputs = "double[2,1,3] a, double[4,1] b",
          .body = "y = " + op_type + "(a, b)",
          .ranges = {{"a", a}, {"b", b}}};
}

inline const std::vector<GradientCheck> binary_checks = {
    {.name = "Add of equal extents", .inputs = "double[2,3] a, double[2,3] b", .body = "y = Add(a, b)"},
    broadcast_check("Add"),
    {.name = "Add of a scalar", .inputs = "double[2,3] a, double b", .body = "y = Add(a, b)"},
    {.name = "Add of a value to itself", .inputs = "double[2,3] a", .body = "y = Add(a, a)"},
    broadcast_check("Sub"),
    {.name = "Sub of a scalar on the left", .inputs = "double a, double[2,3] b", .body = "y = Sub(a, b)"},
    broadcast_check("Mul"),
    {.name = "Mul of a value with itself", .inputs = "double[2,3] a", .body = "y = Mul(a, a)"},
    broadcast_check("Div", {-1, 1}, {0.5, 2}),
    {.name = "Div by a scalar",
     .inputs = "double[2,3] a, double b",
     .body = "y = Div(a, b)",
     .ranges = {{"b", {1, 2}}}},
    broadcast_check("Pow", {0.3, 2}, {-2, 2}),
    {.name = "Pow with the constant exponent 2",
     .inputs = "double[2,3] a",
     .body = "y = Pow(a, two)",
     .initializers = "double two = {2.0}"},
    {.name = "Pow with the constant exponent 1",
     .inputs = "double[2,3] a",
     .body = "y = Pow(a, one)",
     .initializers = "double one = {1.0}"},
    {.name = "Pow with the constant exponent 0",
     .inputs = "double[2,3] a",
     .body = "y = Pow(a, zero)",
     .initializers = "double zero = {0.0}"},
    {.name = "Pow with the constant exponent -1/2",
     .inputs = "double[2,3] a",
     .body = "y = Pow(a, exponent)",
     .initializers = "double exponent = {-0.5}",
     .ranges = {{"", {0.3, 2}}}},
    {.name = "Pow with integer exponents, negative bases",
     .inputs = "double[3] a, int64[3] b",
     .body = "y = Pow(a, b)",
     .ranges = {{"", {-2, -0.5}}},
     .feeds = {{"b", Tensor::of_int64s({3, 0, -1})}}},
    {.name = "Pow of a fed base",
     .inputs = "double[3] a, double[2,3] b",
     .body = "y = Pow(a, b)",
     .feeds = {{"a", Tensor::of<double>({3}, {0.5, 1, 3})}}},
    {.name = "Mod as fmod",
     .inputs = "double[3,4] a, double[4] b",
     .body = "y = Mod<fmod = 1>(a, b)",
     .ranges = {{"a", {-5, 5}}, {"b", {0.9, 1.1}}}},
    broadcast_check("Max"),
    {.name = "Max of three", .inputs = "double[2,3] a, double[3] b, double[2,1] c", .body = "y = Max(a, b, c)"},
    {.name = "Max of one", .inputs = "double[2,3] a", .body = "y = Max(a)"},
    broadcast_check("Min"),
    {.name = "Min of three", .inputs = "double[2,3] a, double[3] b, double[2,1] c", .body = "y = Min(a, b, c)"},
    {.name = "Sum of three", .inputs = "double[2,3] a, double[3] b, double[2,1] c", .body = "y = Sum(a, b, c)"},
    {.name = "Mean of three", .inputs = "double[2,3] a, double[3] b, double[2,1] c", .body = "y = Mean(a, b, c)"},
    {.name = "Where with broadcasting",
     .inputs = "bool[2,1] condition, double[3] a, double[2,3] b",
     .body = "y = Where(condition, a, b)",
     .feeds = {{"condition", Tensor::of<bool>({2, 1}, {true, false})}}},
};

}  // namespace ort_train::tests
