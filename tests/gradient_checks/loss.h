#pragma once

#include "tests/gradient_check.h"

namespace ort_train::tests {

/// The check of a loss of a prediction and a target of equal extents.
inline GradientCheck elementwise_loss_check(const std::string& op_type, Range predictions, Range targets) {
  return {.name = op_type,
          .inputs = "double[3,2] y, double[3,2] t",
          .body = "sum, count = ai.ort_train." + op_type + "(y, t)",
          .outputs = {"sum"},
          .ranges = {{"y", predictions}, {"t", targets}}};
}

inline const std::vector<GradientCheck> loss_checks = {
    {.name = "SoftmaxCrossEntropy of a matrix",
     .inputs = "double[3,4] scores, int64[3] labels",
     .body = "sum, count, log_probabilities = ai.ort_train.SoftmaxCrossEntropy(scores, labels)",
     .outputs = {"sum"},
     .feeds = {{"labels", Tensor::of_int64s({0, 3, 1})}}},
    {.name = "SoftmaxCrossEntropy, mean",
     .inputs = "double[3,4] scores, int64[3] labels",
     .body = "sum, count, log_probabilities = ai.ort_train.SoftmaxCrossEntropy(scores, labels) y = Div(sum, count)",
     .feeds = {{"labels", Tensor::of_int64s({0, 3, 1})}}},
    {.name = "SoftmaxCrossEntropy of images with ignored labels, log-probabilities used beside",
     .inputs = "double[2,3,2] scores, int64[2,2] labels",
     .body = "sum, count, y = ai.ort_train.SoftmaxCrossEntropy<ignore_index = -100>(scores, labels)",
     .outputs = {"sum", "y"},
     .feeds = {{"labels", Tensor::of_int64s({0, -100, 2, 1}).reshaped({2, 2})}}},
    {.name = "SoftmaxCrossEntropy of which only the log-probabilities are used",
     .inputs = "double[3,4] scores, int64[3] labels",
     .body = "sum, count, y = ai.ort_train.SoftmaxCrossEntropy(scores, labels)",
     .feeds = {{"labels", Tensor::of_int64s({0, 3, 1})}}},
    {.name = "NegativeLogLikelihood",
     .inputs = "double[3,4] x, int32[3] labels",
     .body = "sum, count = ai.ort_train.NegativeLogLikelihood(x, labels)",
     .outputs = {"sum"},
     .feeds = {{"labels", Tensor::of<std::int32_t>({3}, {0, 3, 1})}}},
    {.name = "NegativeLogLikelihood of images with an ignored class",
     .inputs = "double[2,3,2] x, int64[2,2] labels",
     .body = "sum, count = ai.ort_train.NegativeLogLikelihood<ignore_index = 1>(x, labels)",
     .outputs = {"sum"},
     .feeds = {{"labels", Tensor::of_int64s({0, 1, 2, 1}).reshaped({2, 2})}}},
    elementwise_loss_check("BinaryCrossEntropy", {0.1, 0.9}, {0, 1}),
    elementwise_loss_check("BinaryCrossEntropyWithLogits", {-2, 2}, {0, 1}),
    elementwise_loss_check("SquaredError", {-1, 1}, {-1, 1}),
    elementwise_loss_check("AbsoluteError", {-1, 1}, {-1, 1}),
};

}  // namespace ort_train::tests
