// Readers of the keys that say how a batch is divided.
#include <numeric>

#include "runtime/training/config.h"
#include "runtime/training/config_sections.h"
#include "runtime/training/config_value.h"

namespace ort_train::training {

void read_batch_size(TrainingConfig& config, const ConfigValue& value) {
  config.batch_size = value.integer(1);
  // What is said later wins: a batch size on the command line over the recipe's global one.
  config.global_batch_size.reset();
}

void read_global_batch_size(TrainingConfig& config, const ConfigValue& value) {
  config.global_batch_size = value.integer(1);
}

void read_batch_axis(TrainingConfig& config, const ConfigValue& value) {
  config.batch_axis.clear();
  if (!value.is_map()) {
    config.batch_axis[""] = value.integer(0);
    return;
  }
  for (const auto& [input, axis] : value.string_map()) {
    config.batch_axis[input] = ConfigValue(YAML::Node(axis), value.name() + "." + input, "").integer(0);
  }
}

void read_batch_norm(TrainingConfig& config, const ConfigValue& value) {
  using Statistics = passes::Replication::Statistics;
  config.batch_norm = value.word({"local", "sync"}) == "sync" ? Statistics::synchronized : Statistics::local;
}

void read_gpus(TrainingConfig& config, const ConfigValue& value) {
  config.gpus.clear();
  const bool is_list = value.is_list() || value.string().find(',') != std::string::npos;
  if (is_list) {
    for (const std::string& gpu : value.strings()) {
      config.gpus.push_back(ConfigValue(YAML::Node(gpu), value.name(), "").integer(0));
    }
    return;
  }
  config.gpus.resize(static_cast<std::size_t>(value.integer(0)));
  std::iota(config.gpus.begin(), config.gpus.end(), 0);
}

}  // namespace ort_train::training
