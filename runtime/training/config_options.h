#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/training/config.h"

namespace ort_train::training {

/// What `--help` says of an option. Every option is a key of a recipe, under the same name with "_" for "-".
struct OptionInfo {
  std::string name;                  ///< "batch_size"
  std::vector<std::string> aliases;  ///< "learning_rate" of "lr"
  std::string group;                 ///< heading in the help
  std::string value;                 ///< what stands for its value in the help; empty for a switch
  std::string help;
};

/// All options, in the order of the help.
const std::vector<OptionInfo>& options();

/// Reads a recipe (YAML) into `config`. Input paths in it are relative to its folder, outputs to the working directory.
/// Throws (usage) naming file and line: no YAML, unknown key, wrong type, value out of range.
void read_recipe(TrainingConfig& config, const std::filesystem::path& path);

/// Options of the command line, by name; each with the values it was given. A value that starts with "{" or "[" is
/// YAML, so that whatever a recipe can say can be said here as well.
using GivenOptions = std::vector<std::pair<std::string, std::vector<std::string>>>;
void apply_options(TrainingConfig& config, const GivenOptions& given);

}  // namespace ort_train::training
