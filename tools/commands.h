#pragma once

#include <string>
#include <vector>

#include "runtime/training/config.h"
#include "runtime/training/explanation_text.h"

namespace ort_train::tools {

/// The whole program: parses, runs, reports errors as one sentence. Returns the exit code: 0 done, 1 failed run, 2
/// wrong arguments or recipe, 130 interrupted.
int run(const std::vector<std::string>& arguments);

/// The run was interrupted and its state saved.
inline constexpr int interrupted_exit_code = 130;

/// Each returns the exit code and throws Error.
int train(const training::TrainingConfig& config);
int evaluate(const training::TrainingConfig& config);
int predict(const training::TrainingConfig& config);
/// Prints what a training step of this configuration does and how it scales; `replicas` counts those of all machines.
/// Needs no data.
int explain(const training::TrainingConfig& config, const training::ExplainedMachine& machine);

/// Prints what there is to compute on. `arguments` are those after the command.
int devices(std::vector<std::string> arguments);

/// Throws (usage) for what training refuses as well, and for what explain cannot tell.
void check_explainable(training::TrainingConfig config);

/// Throws (usage) a text that tells a newcomer which data the model takes and in which forms they can come.
void require_data(const training::TrainingConfig& config);

}  // namespace ort_train::tools
