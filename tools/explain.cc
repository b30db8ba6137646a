#include <iostream>

#include "base/error.h"
#include "runtime/training/task.h"
#include "tools/commands.h"

namespace ort_train::tools {

int explain(const training::TrainingConfig& config, const training::ExplainedMachine& machine) {
  // Samples tell a loss and sizes that the file leaves open; where they are given they are looked at as training does.
  const training::Task task =
      config.data.path.empty() ? training::Task::without_samples(config) : training::Task(config);
  const training::Explanation explanation =
      training::explain(task.model(), task.spec(), task.batch_dims(), training::replication_of(config, 0),
                        static_cast<int>(config.threads), config.winograd);
  std::cout << training::explanation_text(explanation, machine);
  for (const std::string& note : task.notes()) std::cout << "note: " << note << "\n";
  std::cout << std::flush;
  return 0;
}

void check_explainable(training::TrainingConfig config) {
  constexpr std::int64_t most_replicas = 1'000'000;
  if (config.replicas > most_replicas) {
    fail_usage("'replicas' is ", config.replicas, "; explain goes up to ", most_replicas);
  }
  if (config.device != "cpu" || !config.gpus.empty()) {
    fail_usage("explain plans and times a step on the CPU; leave out the GPU, and give its time with --step-time");
  }
  // Any number of replicas can be explained, whatever one process can run.
  config.replicas = 1;
  training::check(config);
}

}  // namespace ort_train::tools
