#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

inline const std::vector<GradientCheck> softmax_checks = {
    {.name = "Softmax over the last axis", .inputs = "double[3,4] x", .body = "y = Softmax(x)"},
    {.name = "Softmax over a middle axis", .inputs = "double[2,3,2] x", .body = "y = Softmax<axis = 1>(x)"},
    {.name = "LogSoftmax over the last axis", .inputs = "double[3,4] x", .body = "y = LogSoftmax(x)"},
    {.name = "LogSoftmax over the first axis", .inputs = "double[3,2] x", .body = "y = LogSoftmax<axis = 0>(x)"},
};

}  // namespace ort_train::tests
