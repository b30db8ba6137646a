#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

inline const std::vector<GradientCheck> normalization_checks = {
    {.name = "BatchNormalization in inference form",
     .inputs = "double[3,2,2,3] x, double[2] scale, double[2] b, double[2] mean, double[2] var",
     .body = "y = BatchNormalization<epsilon = 0.01>(x, scale, b, mean, var)",
     .ranges = {{"var", {0.5, 2}}}},
    {.name = "BatchNormalization in inference form of a matrix",
     .inputs = "double[4,3] x, double[3] scale, double[3] b, double[3] mean, double[3] var",
     .body = "y = BatchNormalization(x, scale, b, mean, var)",
     .ranges = {{"var", {0.5, 2}}}},
    {.name = "BatchNormalizationTraining of images",
     .inputs = "double[3,2,2,3] x, double[2] scale, double[2] b, double[2] mean, double[2] var",
     .body = "y, new_mean, new_var, batch_mean, batch_var = ai.ort_train.BatchNormalizationTraining"
             "<epsilon = 0.01, momentum = 0.9>(x, scale, b, mean, var)",
     .feeds = {{"mean", Tensor::of<double>({2}, {0.1, -0.2})}, {"var", Tensor::of<double>({2}, {1, 2})}}},
    {.name = "BatchNormalizationTraining of a matrix, followed by Relu",
     .inputs = "double[5,3] x, double[3] scale, double[3] b, double[3] mean, double[3] var",
     .body = "y, new_mean, new_var, batch_mean, batch_var = ai.ort_train.BatchNormalizationTraining"
             "<epsilon = 0.001, momentum = 0.9, activation = \"Relu\">(x, scale, b, mean, var)",
     .ranges = {{"b", {0.2, 0.5}}},
     .feeds = {{"mean", Tensor(DataType::float64, {3})}, {"var", Tensor::of<double>({3}, {1, 2, 3})}}},
    {.name = "LayerNormalization over the last axis",
     .inputs = "double[2,3,4] x, double[4] scale, double[4] b",
     .body = "y = LayerNormalization<epsilon = 0.01>(x, scale, b)"},
    {.name = "LayerNormalization over two axes, without bias",
     .inputs = "double[3,2,4] x, double[2,4] scale",
     .body = "y = LayerNormalization<axis = 1>(x, scale)"},
    {.name = "LayerNormalization with a scale that is broadcast",
     .inputs = "double[2,3,4] x, double[4] scale, double[4] b",
     .body = "y = LayerNormalization<axis = 1>(x, scale, b)"},
    {.name = "InstanceNormalization",
     .inputs = "double[2,3,2,3] x, double[3] scale, double[3] b",
     .body = "y = InstanceNormalization<epsilon = 0.01>(x, scale, b)"},
    {.name = "InstanceNormalization in one dimension",
     .inputs = "double[2,2,5] x, double[2] scale, double[2] b",
     .body = "y = InstanceNormalization(x, scale, b)"},
    {.name = "LRN of odd size",
     .inputs = "double[2,5,2,2] x",
     .body = "y = LRN<size = 3, alpha = 0.3, beta = 0.6, bias = 1.5>(x)"},
    {.name = "LRN of even size", .inputs = "double[1,6,3] x", .body = "y = LRN<size = 4, alpha = 0.5>(x)"},
    {.name = "LpNormalization, Euclidean, over the last axis",
     .inputs = "double[2,3,4] x",
     .body = "y = LpNormalization(x)"},
    {.name = "LpNormalization of first order",
     .inputs = "double[2,3,4] x",
     .body = "y = LpNormalization<axis = 1, p = 1>(x)"},
};

}  // namespace ort_train::tests
