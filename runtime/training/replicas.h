#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/collectives/collective.h"
#include "runtime/data/loader.h"
#include "runtime/training/program.h"
#include "runtime/training/task.h"
#include "runtime/training/worker.h"

namespace ort_train::training {

/// One copy of the model: its graphs, its state, its part of the samples.
struct Replica {
  passes::Replication replication;
  runtime::Collective* collective = nullptr;
  std::unique_ptr<Program> program;
  std::unique_ptr<data::Loader> training, validation;

  /// Feeds a batch, and where the replica's samples begin in it.
  void feed(CompiledGraph& compiled, const data::Batch& batch,
            const std::map<std::string, std::int64_t>& sample_blocks) const;
};

/// The replicas of this process, each on a thread of its own, in step with each other and with those of the other
/// processes. A replica that fails ends the work of all others; what made it fail is thrown here.
class Replicas {
 public:
  Replicas(const Task& task, const TrainingConfig& config);

  /// Needs the task's statistics.
  void make_loaders();
  std::int64_t steps_per_epoch() const { return front().training->steps_per_epoch(); }

  /// Compiles for batches of that many samples.
  void compile_training(std::int64_t batch_size);
  void compile_evaluation(std::int64_t batch_size);

  /// Sets the loaders to work.
  void start_training(std::uint32_t epoch, std::int64_t step);
  void start_validation();

  /// One step of training over the next batch. Returns the graph of the first replica, whose outputs are those of the
  /// whole batch, and the samples of the whole batch.
  struct Step {
    CompiledGraph* compiled = nullptr;
    std::int64_t samples = 0;
  };
  Step train(float learning_rate, std::int64_t step_number);
  /// The same in inference form over the next batch of validation; nothing after the last one.
  std::optional<Step> evaluate();

  /// Whether this holds for any process: all of them get the same answer. Every process must ask.
  bool any_process(bool value);

  /// State by name, whole: parts of sharded slots are put together. Every process must ask.
  std::map<std::string, Tensor> whole_state();
  /// The same after a failure, without the other processes: from a replica that can still be asked. Nothing when a step
  /// had begun to change the state, or when parts of it are lost.
  std::optional<std::map<std::string, Tensor>> surviving_state() const;
  /// Gives every replica the state, or its part of it. Throws, naming it, when one is lacking.
  void set_whole_state(const std::map<std::string, Tensor>& state, const std::string& origin);

  Replica& front() const { return *replicas_.front(); }
  std::size_t size() const { return replicas_.size(); }

 private:
  void run(const std::function<void(Replica&)>& function);
  std::size_t local_index(const Replica& replica) const;

  const Task& task_;
  const TrainingConfig& config_;
  // In this order: graphs use the collectives to the last, and workers use everything.
  std::vector<std::unique_ptr<runtime::Collective>> collectives_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<Worker>> workers_;
  /// Between the start of a step and its end everywhere, the replicas may hold different states.
  bool within_step_ = false;
};

}  // namespace ort_train::training
