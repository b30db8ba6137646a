#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "runtime/data/loader.h"
#include "runtime/training/config.h"
#include "runtime/training/program.h"

namespace ort_train::training {

struct Evaluation {
  double loss = 0;
  std::vector<double> metrics;
};

/// Loss and metrics over all samples of the loader, in inference form. `sample_blocks` is that of the task.
Evaluation evaluate(Program& program, data::Loader& loader,
                    const std::map<std::string, std::int64_t>& sample_blocks = {});

/// Loss and metrics of a model file over the validation samples of the data, or over all samples where there are none.
/// Means and deviations of preprocessing are those of the checkpoint `config.resume`, or those of the training samples;
/// throws (usage) when they are needed and there is neither.
struct EvaluationReport {
  Evaluation figures;
  std::vector<std::string> metric_names;
  std::int64_t samples = 0;
  std::vector<std::string> notes;
};
EvaluationReport evaluate(const TrainingConfig& config);

/// The model's outputs for the same samples, stacked along the first axis, by name.
std::map<std::string, Tensor> predict(const TrainingConfig& config);

}  // namespace ort_train::training
