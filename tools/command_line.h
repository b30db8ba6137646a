#pragma once

#include <string>
#include <vector>

#include "runtime/training/config.h"
#include "runtime/training/explanation_text.h"

namespace ort_train::tools {

/// What is typed, read into a configuration: the recipe first, then the options, which win.
struct CommandLine {
  training::TrainingConfig config;
  training::ExplainedMachine machine;  ///< for "explain"
  bool help_shown = false;             ///< nothing is left to do
};

/// Parses the arguments after the command. `command` is "train", "evaluate", "predict" or "explain" and decides
/// what the help says. Throws (usage) for anything that is not understood.
CommandLine parse_command_line(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace ort_train::tools
