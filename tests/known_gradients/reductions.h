#pragma once

#include "tests/known_gradient.h"

namespace ort_train::tests {

inline const std::vector<KnownGradient> known_reductions = {
    {"double[2] x", "y = ReduceSum<keepdims = 0>(x)", {{"x", {1, 2}}}, {{"y", {3}}}, {{"x", {3, 3}}}},
    {"double[2] x", "y = ReduceMean<keepdims = 0>(x)", {{"x", {1, 2}}}, {{"y", {3}}}, {{"x", {1.5, 1.5}}}},
    {"double[3] x", "y = ReduceMax<keepdims = 0>(x)", {{"x", {1, 3, 3}}}, {{"y", {1}}}, {{"x", {0, 0.5, 0.5}}}},
    {"double[3] x", "y = ReduceMin<keepdims = 0>(x)", {{"x", {2, 1, 1}}}, {{"y", {1}}}, {{"x", {0, 0.5, 0.5}}}},
    {"double[3] x", "y = ReduceProd<keepdims = 0>(x)", {{"x", {2, 3, 4}}}, {{"y", {1}}}, {{"x", {12, 8, 6}}}},
    {"double[3] x", "y = ReduceProd<keepdims = 0>(x)", {{"x", {0, 3, 4}}}, {{"y", {1}}}, {{"x", {12, 0, 0}}}},
    {"double[3] x", "y = ReduceProd<keepdims = 0>(x)", {{"x", {0, 3, 0}}}, {{"y", {1}}}, {{"x", {0, 0, 0}}}},
    {"double[3] x", "y = ReduceL1<keepdims = 0>(x)", {{"x", {-2, 0, 3}}}, {{"y", {1}}}, {{"x", {-1, 0, 1}}}},
    {"double[2] x", "y = ReduceL2<keepdims = 0>(x)", {{"x", {3, 4}}}, {{"y", {1}}}, {{"x", {0.6, 0.8}}}},
    {"double[2] x", "y = ReduceL2<keepdims = 0>(x)", {{"x", {0, 0}}}, {{"y", {1}}}, {{"x", {0, 0}}}},
    {"double[2] x", "y = ReduceLogSum<keepdims = 0>(x)", {{"x", {1, 3}}}, {{"y", {1}}}, {{"x", {0.25, 0.25}}}},
    {"double[2] x", "y = ReduceLogSumExp<keepdims = 0>(x)", {{"x", {0, log_3}}}, {{"y", {1}}}, {{"x", {0.25, 0.75}}}},
    {"double[2] x", "y = ReduceSumSquare<keepdims = 0>(x)", {{"x", {1, -2}}}, {{"y", {3}}}, {{"x", {6, -12}}}},
    {"double[3] x",
     "y = CumSum(x, axis)",
     {{"x", {1, 1, 1}}},
     {{"y", {1, 2, 3}}},
     {{"x", {6, 5, 3}}},
     "int64 axis = {0}"},
    {"double[3] x",
     "y = CumSum<reverse = 1>(x, axis)",
     {{"x", {1, 1, 1}}},
     {{"y", {1, 2, 3}}},
     {{"x", {1, 3, 6}}},
     "int64 axis = {0}"},
    {"double[3] x",
     "y = CumSum<exclusive = 1>(x, axis)",
     {{"x", {1, 1, 1}}},
     {{"y", {1, 2, 3}}},
     {{"x", {5, 3, 0}}},
     "int64 axis = {0}"},
};

inline const std::vector<KnownGradient> known_products = {
    {"double[1,2] a, double[2,1] b, double[1] c",
     "y = Gemm<alpha = 2.0, beta = 3.0>(a, b, c)",
     {{"a", {1, 2}}, {"b", {3, 4}}, {"c", {5}}},
     {{"y", {1}}},
     {{"a", {6, 8}}, {"b", {2, 4}}, {"c", {3}}}},
    {"double[2] a, double[2] b",
     "y = MatMul(a, b)",
     {{"a", {1, 2}}, {"b", {3, 4}}},
     {{"y", {2}}},
     {{"a", {6, 8}}, {"b", {2, 4}}}},
    {"double[2,1,1] a, double[1,2] b",
     "y = MatMul(a, b)",
     {{"a", {1, 2}}, {"b", {3, 4}}},
     {{"y", {1, 1, 1, 1}}},
     {{"a", {7, 7}}, {"b", {3, 3}}}},
    {"double[2] a, double[3] b",
     "y = Einsum<equation = \"i,j->ij\">(a, b)",
     {{"a", {1, 2}}, {"b", {3, 4, 5}}},
     {{"y", {1, 1, 1, 1, 1, 1}}},
     {{"a", {12, 12}}, {"b", {3, 3, 3}}}},
    {"double[2,2] a", "y = Einsum<equation = \"ii->\">(a)", {{"a", {1, 2, 3, 4}}}, {{"y", {5}}}, {{"a", {5, 0, 0, 5}}}},
};

}  // namespace ort_train::tests
