#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "runtime/data/dataset.h"
#include "runtime/data/input_slot.h"

namespace ort_train::data {

/// What is subtracted from an input and what it is divided by, in the units that `InputOptions::scale` gives. Either
/// may be undefined. float32, of the shape of one sample as the model takes it, or [channels].
struct Statistics {
  Tensor mean;
  Tensor deviation;
};

/// By the name of the model's input.
using StatisticsByInput = std::map<std::string, Statistics>;

/// Computes, over the training set, what the options of each input ask for; the samples are resized and cropped to the
/// middle as for validation, not augmented. The deviation is that of the population (divided by n). Uses `threads`
/// threads; the result does not depend on how many.
StatisticsByInput compute_statistics(const Dataset& training, const std::vector<InputSlot>& inputs, int threads);

/// For checkpoints: the keys are "INPUT/mean" and "INPUT/deviation".
std::map<std::string, Tensor> to_tensors(const StatisticsByInput& statistics);
StatisticsByInput statistics_from_tensors(const std::map<std::string, Tensor>& tensors);

}  // namespace ort_train::data
