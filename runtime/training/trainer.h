#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/training/callback.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/evaluation.h"
#include "runtime/training/history.h"
#include "runtime/training/metrics.h"
#include "runtime/training/replicas.h"
#include "runtime/training/task.h"

namespace ort_train::training {

/// Trains a model:
///     Trainer trainer(config);        // or with a graph and samples of one's own
///     trainer.fit();
///     graph::save(*trainer.trained_model(), "trained.onnx");
/// `fit` itself writes what the configuration names: trained model, history, curves, checkpoints. The same seed on the
/// same machine gives the same bits, interrupted and resumed or not. With several processes each has a Trainer of the
/// same configuration, and the first one writes.
class Trainer {
 public:
  explicit Trainer(TrainingConfig config);
  /// `config.output` may be empty here: then no file is written.
  Trainer(TrainingConfig config, std::unique_ptr<graph::Graph> model, data::Splits splits);

  void add_callback(std::shared_ptr<Callback> callback) { callbacks_.push_back(std::move(callback)); }

  /// Compiles, and takes up the checkpoint to resume from: whatever can go wrong before the first step goes wrong here.
  /// `fit` calls it when nobody has.
  void prepare();
  /// Throws what ended the run early; the sentence says what there is to go on from. Where the state after the last
  /// step is left, it is saved first.
  FitResult fit();

  /// The run ends after the present step, and its state is saved. May be called from any thread or a signal handler.
  void interrupt() noexcept { interrupted_ = true; }
  /// The run ends after this epoch as if it were the last one. For callbacks.
  void finish_after_epoch() { last_epoch_ = position_.epoch + 1; }

  const TrainingConfig& config() const { return config_; }
  const Task& task() const { return task_; }
  /// That of the first replica of this process.
  Program& program() const { return *replicas_.front().program; }
  const History& history() const { return history_; }
  const std::vector<std::string>& metric_names() const { return task_.metric_names(); }
  const Position& position() const { return position_; }
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Files are written, and things printed, by one process.
  bool is_first_process() const { return config_.process == 0; }
  /// What was chosen for the user, and what a resumed run does otherwise than before; a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// With the present parameters, in inference form.
  std::unique_ptr<graph::Graph> trained_model() const { return program().inference_model(); }

 private:
  Trainer(TrainingConfig config, Task task);
  void check_outputs() const;
  FitResult train();
  std::string rescue();
  bool save_surviving_state();
  void compile();
  void restore(const Checkpoint& checkpoint);
  bool run_epoch();
  bool train_epoch(double& seconds_per_sample);
  std::int64_t run_step();
  std::optional<Evaluation> validate();
  void check_finite(double loss) const;
  double learning_rate() const;
  std::int64_t global_step() const { return position_.epoch * steps_per_epoch() + position_.step; }
  void finish_epoch(const std::optional<Evaluation>& validation, double seconds, double seconds_per_sample);
  void keep_best(double monitored);
  void save_checkpoint(const std::filesystem::path& path);
  Checkpoint checkpoint_of(std::map<std::string, Tensor> state) const;
  void save_reports() const;
  std::filesystem::path last_checkpoint() const { return config_.checkpoint / "last.npz"; }
  std::filesystem::path interruption_checkpoint() const;
  template <typename Function>
  void notify(Function&& function);

  TrainingConfig config_;
  Task task_;
  Replicas replicas_;
  std::vector<std::string> notes_;
  std::string model_digest_;
  std::map<std::string, std::string> settings_;
  std::int64_t steps_per_epoch_ = 0;
  std::vector<std::shared_ptr<Callback>> callbacks_;

  bool prepared_ = false;
  Position position_;
  std::int64_t last_epoch_ = 0;
  Totals totals_;
  History history_;
  double best_ = std::numeric_limits<double>::infinity();
  double seconds_before_ = 0;  ///< spent in this epoch before the run was resumed
  std::chrono::steady_clock::time_point epoch_start_;
  /// The state of the replicas is not one to go on from: a step changed it that the position does not count.
  bool state_is_ahead_ = false;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace ort_train::training
