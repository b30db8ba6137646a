#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ort_train::training {

/// The learning rate over a run. With x = progress (epochs done, or steps done when `per_step`) and X = their total:
///     constant    lr
///     step        lr * gamma^(number of milestones <= x), or lr * gamma^floor(x / every) without milestones
///     polynomial  end_lr + (lr - end_lr) * (1 - x / X)^power
///     cosine      end_lr + (lr - end_lr) * (1 + cos(pi * x / X)) / 2
/// Warm-up goes first: over its steps the rate is multiplied by (step + 1) / steps, and the schedule runs as if there
/// were none (x counts from the start of the run).
struct Schedule {
  enum class Kind { constant, step, polynomial, cosine };
  Kind kind = Kind::constant;
  double learning_rate = 0.01;
  double power = 1;
  double end_learning_rate = 0;
  double gamma = 0.1;
  std::int64_t every = 0;                ///< epochs (steps when `per_step`)
  std::vector<std::int64_t> milestones;  ///< epochs (steps when `per_step`), increasing
  bool per_step = false;
  std::int64_t warmup_steps = 0;
  std::int64_t warmup_epochs = 0;  ///< adds to `warmup_steps`

  /// The rate for the step number `step` (from 0 over the whole run).
  double rate(std::int64_t step, std::int64_t steps_per_epoch, std::int64_t epochs) const;
};

/// "polynomial decay with power 1, each epoch": for the summary.
std::string describe(const Schedule& schedule);

}  // namespace ort_train::training
