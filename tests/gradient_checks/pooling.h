#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

inline const std::vector<GradientCheck> pooling_checks = {
    {.name = "MaxPool in one dimension",
     .inputs = "double[2,2,7] x",
     .body = "y = MaxPool<kernel_shape = [3], strides = [2]>(x)"},
    {.name = "MaxPool in two dimensions with pads and overlap",
     .inputs = "double[2,2,5,6] x",
     .body = "y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)"},
    {.name = "MaxPool with ceil_mode and dilation",
     .inputs = "double[1,2,8,7] x",
     .body = "y = MaxPool<ceil_mode = 1, kernel_shape = [2, 2], strides = [2, 2], dilations = [2, 1]>(x)"},
    {.name = "MaxPool in three dimensions, with indices",
     .inputs = "double[1,2,3,4,3] x",
     .body = "y, indices = MaxPool<kernel_shape = [2, 2, 2], strides = [1, 2, 1]>(x)"},
    {.name = "AveragePool without the pads",
     .inputs = "double[2,2,5,5] x",
     .body = "y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)"},
    {.name = "AveragePool with the pads counted",
     .inputs = "double[1,2,5,4] x",
     .body = "y = AveragePool<count_include_pad = 1, kernel_shape = [3, 2], strides = [1, 2], pads = [1, 0, 1, 0]>(x)"},
    {.name = "AveragePool with ceil_mode, in one dimension",
     .inputs = "double[1,2,8] x",
     .body = "y = AveragePool<ceil_mode = 1, kernel_shape = [3], strides = [2]>(x)"},
    {.name = "AveragePool with ceil_mode and the pads counted",
     .inputs = "double[1,1,6,6] x",
     .body = "y = AveragePool<ceil_mode = 1, count_include_pad = 1, kernel_shape = [3, 3], strides = [2, 2], "
             "pads = [1, 1, 0, 0]>(x)"},
    {.name = "AveragePool in three dimensions with dilation",
     .inputs = "double[1,1,4,4,5] x",
     .body = "y = AveragePool<kernel_shape = [2, 2, 2], dilations = [1, 2, 1], strides = [1, 1, 2]>(x)"},
    {.name = "GlobalMaxPool", .inputs = "double[2,3,4,3] x", .body = "y = GlobalMaxPool(x)"},
    {.name = "GlobalMaxPool in one dimension", .inputs = "double[2,3,5] x", .body = "y = GlobalMaxPool(x)"},
    {.name = "GlobalAveragePool", .inputs = "double[2,3,4,3] x", .body = "y = GlobalAveragePool(x)"},
    {.name = "GlobalAveragePool in three dimensions",
     .inputs = "double[1,2,2,3,2] x",
     .body = "y = GlobalAveragePool(x)"},
};

}  // namespace ort_train::tests
