#include <iomanip>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "runtime/training/evaluation.h"
#include "tools/commands.h"

namespace ort_train::tools {

int evaluate(const training::TrainingConfig& config) {
  const training::EvaluationReport report = training::evaluate(config);
  for (const std::string& note : report.notes) std::cout << "note: " << note << "\n";
  std::cout << std::setprecision(9) << "samples: " << report.samples << "\nloss: " << report.figures.loss << "\n";
  for (std::size_t i = 0; i < report.metric_names.size(); ++i) {
    std::cout << report.metric_names[i] << ": " << report.figures.metrics[i] << "\n";
  }
  std::cout << std::flush;
  return 0;
}

int predict(const training::TrainingConfig& config) {
  if (config.output.extension() != ".npz") {
    fail_usage("predict writes arrays: give their file with --output FILE.npz");
  }
  check_writable(config.output);
  const auto outputs = training::predict(config);
  write_npz(config.output, outputs);
  for (const auto& [name, array] : outputs) {
    std::cout << name << " " << name_of(array.dtype()) << to_string(array.dims()) << "\n";
  }
  std::cout << "outputs: " << config.output.string() << std::endl;
  return 0;
}

}  // namespace ort_train::tools
