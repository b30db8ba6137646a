#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ort_train::training {

class Trainer;

/// What is known after a step.
struct BatchReport {
  std::int64_t epoch = 0, epochs = 0;          ///< from 1
  std::int64_t step = 0, steps_per_epoch = 0;  ///< from 1
  std::int64_t samples = 0;                    ///< trained in this epoch since it began or was resumed
  double seconds = 0;                          ///< spent on them
  double learning_rate = 0;
  double loss = 0;              ///< mean over the epoch so far
  std::vector<double> metrics;  ///< the same
};

/// What is known after an epoch.
struct EpochReport {
  std::int64_t epoch = 0, epochs = 0;  ///< from 1
  double seconds = 0;                  ///< training and validation
  double samples_per_second = 0;       ///< training only
  double learning_rate = 0;            ///< of its first step
  double loss = 0;
  std::vector<double> metrics;
  std::optional<double> validation_loss;
  std::vector<double> validation_metrics;
};

/// How a run ended.
struct FitResult {
  bool interrupted = false;
  std::string checkpoint;  ///< where an interrupted run was saved
};

/// Is told how a run goes; may call `Trainer::interrupt` and `Trainer::finish_after_epoch`. Exceptions end the run.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(Trainer&) {}
  virtual void on_epoch_begin(Trainer&, std::int64_t /*epoch*/) {}
  virtual void on_batch_end(Trainer&, const BatchReport&) {}
  virtual void on_validation_begin(Trainer&) {}
  virtual void on_epoch_end(Trainer&, const EpochReport&) {}
  virtual void on_train_end(Trainer&, const FitResult&) {}
};

}  // namespace ort_train::training
