// Readers of the keys that say how a batch is divided.
#include <algorithm>
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

namespace {

/// A GPU is a replica.
void use_gpus(TrainingConfig& config, std::vector<std::int64_t> gpus) {
  config.device = gpus.empty() ? "cpu" : "cuda";
  config.replicas = std::max<std::int64_t>(1, static_cast<std::int64_t>(gpus.size()));
  config.gpus = std::move(gpus);
}

}  // namespace

void read_device(TrainingConfig& config, const ConfigValue& value) {
  use_gpus(config, value.word({"cpu", "cuda"}) == "cuda" ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>());
}

void read_gpus(TrainingConfig& config, const ConfigValue& value) {
  std::vector<std::int64_t> gpus;
  const bool is_list = value.is_list() || value.string().find(',') != std::string::npos;
  if (is_list) {
    for (const std::string& gpu : value.strings()) {
      gpus.push_back(ConfigValue(YAML::Node(gpu), value.name(), "").integer(0));
    }
  } else {
    gpus.resize(static_cast<std::size_t>(value.integer(0)));
    std::iota(gpus.begin(), gpus.end(), 0);
  }
  use_gpus(config, std::move(gpus));
}

}  // namespace ort_train::training
