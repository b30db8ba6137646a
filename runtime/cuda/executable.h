#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/input_feed.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/state.h"
#include "runtime/executable.h"
#include "runtime/planning/placement.h"
#include "runtime/planning/program.h"

namespace ort_train::runtime::cuda {

/// A graph on one GPU. `run` only puts work on streams: the first step kernel by kernel, then as one captured graph.
class CudaExecutable : public Executable {
 public:
  struct Options {
    CompileOptions compile;
    bool capture = true;  ///< steps after the first are replays of a CUDA graph
  };

  /// `device_context` is that of the device; it outlives the executable.
  CudaExecutable(const graph::Graph& graph, std::shared_ptr<CudaState> state,
                 std::shared_ptr<const Context> device_context, Communicator* communicator, const Options& options);
  ~CudaExecutable() override;

  void set_input(const std::string& name, const Tensor& elements) override;
  void run() override;
  void wait() override;
  Tensor output(const std::string& name) const override;
  const PlanReport& report() const override { return report_; }
  std::vector<ProfileEntry> profile() const override;

 private:
  using Program = planning::Program<Format>;
  using Instruction = planning::Instruction<Format>;

  void add_new_states();
  void bind();
  void fill_report();
  void enqueue();
  void enqueue_timed();
  void start();
  void together(const std::function<void()>& work) const;

  std::unique_ptr<graph::Graph> graph_;
  std::shared_ptr<const Context> device_context_;
  std::shared_ptr<CudaState> state_;
  Context context_;
  Options options_;
  Program program_;
  planning::Placement placement_;
  PlanReport report_;
  InputFeed feed_;
  /// Instructions that compute something (views do not).
  std::vector<std::size_t> steps_;
  CapturedGraph captured_;
  std::vector<double> milliseconds_;
  std::int64_t runs_ = 0;
};

}  // namespace ort_train::runtime::cuda
