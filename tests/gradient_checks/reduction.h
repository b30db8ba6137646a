#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

/// Every form of one reduction: listed axes kept and dropped, all axes, and none.
inline std::vector<GradientCheck> reduction_forms(const std::string& op_type, Range range = {-1, 1}) {
  const std::string inputs = "double[2,3,4] x";
  const std::map<std::string, Range> ranges = {{"", range}};
  return {{.name = op_type + " over listed axes",
           .inputs = inputs,
           .body = "y = " + op_type + "<keepdims = 1>(x, axes)",
           .initializers = "int64[2] axes = {0, -1}",
           .ranges = ranges},
          {.name = op_type + " over one axis, which is dropped",
           .inputs = inputs,
           .body = "y = " + op_type + "<keepdims = 0>(x, axes)",
           .initializers = "int64[1] axes = {1}",
           .ranges = ranges},
          {.name = op_type + " over all axes",
           .inputs = inputs,
           .body = "y = " + op_type + "<keepdims = 0>(x)",
           .ranges = ranges},
          {.name = op_type + " over no axis",
           .inputs = inputs,
           .body = "y = " + op_type + "<noop_with_empty_axes = 1>(x)",
           .ranges = ranges}};
}

inline std::vector<GradientCheck> all_reduction_forms() {
  std::vector<GradientCheck> checks;
  const auto append = [&](std::vector<GradientCheck> forms) {
    checks.insert(checks.end(), forms.begin(), forms.end());
  };
  for (const char* op_type : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                              "ReduceLogSumExp", "ReduceSumSquare"}) {
    append(reduction_forms(op_type));
  }
  append(reduction_forms("ReduceProd", {0.5, 1.5}));
  append(reduction_forms("ReduceLogSum", {0.5, 1.5}));
  return checks;
}

/// Products with zeros among the factors, where "product over the element" would be 0 over 0.
inline const std::vector<GradientCheck> product_checks = {
    {.name = "ReduceProd with one zero",
     .inputs = "double[2,1] zero, double[2,3] rest",
     .body = "x = Concat<axis = 1>(rest, zero) y = ReduceProd<keepdims = 0>(x, axes)",
     .initializers = "int64[1] axes = {1}",
     .ranges = {{"zero", {0, 0}}},
     .kinks = {}},
    {.name = "ReduceProd with two zeros",
     .inputs = "double[2,2] zeros, double[2,2] rest",
     .body = "x = Concat<axis = 1>(rest, zeros) y = ReduceProd(x, axes)",
     .initializers = "int64[1] axes = {1}",
     .ranges = {{"zeros", {0, 0}}},
     .kinks = {}},
};

inline const std::vector<GradientCheck> cumulative_checks = {
    {.name = "CumSum", .inputs = "double[2,4] x", .body = "y = CumSum(x, axis)", .initializers = "int64 axis = {1}"},
    {.name = "CumSum, exclusive, along the first axis",
     .inputs = "double[3,2] x",
     .body = "y = CumSum<exclusive = 1>(x, axis)",
     .initializers = "int64 axis = {0}"},
    {.name = "CumSum, reverse",
     .inputs = "double[2,4] x",
     .body = "y = CumSum<reverse = 1>(x, axis)",
     .initializers = "int64 axis = {-1}"},
    {.name = "CumSum, reverse and exclusive",
     .inputs = "double[2,4] x",
     .body = "y = CumSum<reverse = 1, exclusive = 1>(x, axis)",
     .initializers = "int64 axis = {1}"},
};

}  // namespace ort_train::tests
