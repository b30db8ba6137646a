#pragma once

#include <optional>
#include <string>

#include "runtime/training/explanation.h"

namespace ort_train::training {

/// What the user says of the machines that a step is predicted for.
struct ExplainedMachine {
  runtime::Interconnect network;
  std::optional<double> compute_seconds;  ///< of a step without communication; absent: as timed here
};

/// A report for a terminal: passes, batch, memory, collectives, traffic between processes, predicted step.
std::string explanation_text(const Explanation& explanation, const ExplainedMachine& machine);

}  // namespace ort_train::training
