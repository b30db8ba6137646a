#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

inline const std::vector<GradientCheck> dropout_checks = {
    {.name = "Dropout in inference form", .inputs = "double[2,3] x", .body = "y, mask = Dropout(x)"},
    {.name = "Dropout switched off by its third input",
     .inputs = "double[2,3] x",
     .body = "y = Dropout(x, ratio, training)",
     .initializers = "double ratio = {0.5}, bool training = {0}"},
    {.name = "TrainingDropout",
     .inputs = "double[4,5] x, int64 step, int64 first_sample",
     .body = "y, mask = ai.ort_train.TrainingDropout<ratio = 0.25, seed = 3, stream = 1>(x, step, first_sample)",
     .feeds = {{"step", Tensor::scalar<std::int64_t>(5)}, {"first_sample", Tensor::scalar<std::int64_t>(2)}}},
};

}  // namespace ort_train::tests
