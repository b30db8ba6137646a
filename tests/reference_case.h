#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "passes/training_graph.h"

namespace ort_train {

/// What case.yaml of a reference case says: a model, one batch, and how it is trained on that batch.
struct ReferenceCase {
  std::filesystem::path folder;
  std::string name;
  bool has_numbers = true;  ///< false for kind `property`, which has no expected.npz
  std::vector<passes::LossSpec> losses;
  passes::OptimizerSpec optimizer;
  double learning_rate = 0;
  std::vector<std::string> trainable;              ///< initializers that are updated
  std::vector<std::string> running_statistics;     ///< running mean and variance of BatchNormalization
  std::map<std::string, std::int64_t> batch_axes;  ///< where inputs hold the samples; 0 for those not named
  struct Tolerance {
    double loss = 0, out = 0, grad = 0, step1 = 0, step5 = 0, out5 = 0;  ///< relative to the largest element
  } tolerance;
};

/// Throws an Error that names the file and the line when something is missing or of the wrong type.
ReferenceCase read_reference_case(const std::filesystem::path& folder);

/// Losses, optimizer and exact trainable names.
passes::TrainingSpec training_spec(const ReferenceCase& reference);

}  // namespace ort_train
