#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

inline const std::vector<GradientCheck> convolution_checks = {
    {.name = "Conv in one dimension",
     .inputs = "double[2,3,7] x, double[4,3,3] w, double[4] b",
     .body = "y = Conv<kernel_shape = [3], strides = [1], pads = [0, 0], dilations = [1]>(x, w, b)"},
    {.name = "Conv in two dimensions, stride 2 with a remainder, uneven pads, no bias",
     .inputs = "double[2,2,6,5] x, double[3,2,3,2] w",
     .body = "y = Conv<kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 0, 1], dilations = [1, 1]>(x, w)"},
    {.name = "Conv in two dimensions with groups and dilation",
     .inputs = "double[1,4,6,6] x, double[6,2,2,2] w, double[6] b",
     .body = "y = Conv<group = 2, kernel_shape = [2, 2], strides = [1, 2], pads = [1, 1, 1, 1], dilations = [2, 1]>"
             "(x, w, b)"},
    {.name = "Conv, depthwise, geometry by defaults",
     .inputs = "double[2,3,4,4] x, double[3,1,3,3] w, double[3] b",
     .body = "y = Conv<group = 3>(x, w, b)"},
    {.name = "Conv in three dimensions",
     .inputs = "double[1,2,3,4,3] x, double[2,2,2,2,2] w, double[2] b",
     .body = "y = Conv<kernel_shape = [2, 2, 2], strides = [1, 2, 1], pads = [0, 1, 1, 0, 1, 0], "
             "dilations = [1, 1, 2]>(x, w, b)"},
    {.name = "Conv of which only the bias is differentiated",
     .inputs = "double[2,2,4,4] x, double[3,2,3,3] w, double[3] b",
     .body = "y = Conv<kernel_shape = [3, 3]>(x, w, b)",
     .feeds = {{"x", Tensor(DataType::float64, {2, 2, 4, 4})}, {"w", Tensor(DataType::float64, {3, 2, 3, 3})}}},
    {.name = "ConvTranspose with stride, pads, output padding and bias",
     .inputs = "double[2,3,3,4] x, double[3,2,3,2] w, double[2] b",
     .body = "y = ConvTranspose<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 0, 1], dilations = [1, 2], "
             "output_padding = [1, 0]>(x, w, b)"},
    {.name = "ConvTranspose with groups",
     .inputs = "double[1,4,5] x, double[4,3,3] w",
     .body = "y = ConvTranspose<group = 2, kernel_shape = [3], strides = [2]>(x, w)"},
    {.name = "ConvGradInput",
     .inputs = "double[1,4,3,3] x, double[4,1,3,3] w",
     .body = "y = ai.ort_train.ConvGradInput<group = 2, kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
             "dilations = [1, 1], input_shape = [1, 2, 6, 5]>(x, w)"},
};

}  // namespace ort_train::tests
