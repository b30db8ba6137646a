#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/replication.h"
#include "passes/training_graph.h"
#include "runtime/collectives/collective.h"
#include "runtime/data/loader.h"
#include "runtime/executable.h"

namespace ort_train::training {

/// An executable that knows which inputs its graph reads.
class CompiledGraph {
 public:
  CompiledGraph(const graph::Graph& graph, runtime::Device& device, std::shared_ptr<runtime::State> state,
                const runtime::CompileOptions& options);

  /// Does nothing when the graph does not read `name`. An array of equal size but other extents is taken as it lies;
  /// with `blocks` other than 1 it is [samples, blocks, rest] and is put as [blocks, samples, rest].
  void set_input(const std::string& name, const Tensor& elements, std::int64_t blocks = 1);
  /// All arrays of a batch; `sample_blocks` names those with other blocks than 1.
  void feed(const data::Batch& batch, const std::map<std::string, std::int64_t>& sample_blocks);
  runtime::Executable& executable() const { return *executable_; }
  const runtime::PlanReport& report() const { return executable_->report(); }

 private:
  std::map<std::string, Dims> input_dims_;
  std::unique_ptr<runtime::Executable> executable_;
};

/// A model compiled for training and evaluation on one replica, for whatever batch sizes come (the full one, and that
/// of the last batch of an epoch); all share one state.
class Program {
 public:
  struct Options {
    passes::Replication replication;
    runtime::Collective* collective = nullptr;  ///< of the replica; must outlive the program
    bool winograd = true;                       ///< see runtime::CompileOptions; for training only
  };

  /// `sample_dims` gives the extents of one sample of each model input. Nothing is compiled yet.
  Program(const graph::Graph& model, passes::TrainingSpec spec, std::map<std::string, Dims> sample_dims,
          std::unique_ptr<runtime::Device> device, const Options& options);
  Program(const graph::Graph& model, passes::TrainingSpec spec, std::map<std::string, Dims> sample_dims,
          std::unique_ptr<runtime::Device> device)
      : Program(model, std::move(spec), std::move(sample_dims), std::move(device), Options()) {}

  /// Inputs that the graphs prepare themselves; to be said before anything is compiled.
  void set_preparations(const passes::InputPreparations& preparations) { spec_.preparations = preparations; }

  /// For a batch of that many samples over all replicas, of which this one has its shard. Compiled on first use.
  CompiledGraph& training(std::int64_t batch_size);
  CompiledGraph& evaluation(std::int64_t batch_size);

  runtime::State& state() const { return *state_; }
  const runtime::Device& device() const { return *device_; }
  const passes::TrainingSpec& spec() const { return spec_; }

  /// Names of the parameters that training changes; known once a training graph was compiled.
  const std::set<std::string>& trainable() const { return trainable_; }

  /// The model with the present state, in inference form.
  std::unique_ptr<graph::Graph> inference_model() const;

 private:
  std::map<std::string, Dims> input_dims(std::int64_t batch_size) const;
  runtime::CompileOptions compile_options() const;

  const graph::Graph& model_;
  passes::TrainingSpec spec_;
  std::map<std::string, Dims> sample_dims_;
  std::unique_ptr<runtime::Device> device_;
  Options options_;
  std::shared_ptr<runtime::State> state_;
  std::map<std::int64_t, std::unique_ptr<CompiledGraph>> training_, evaluation_;
  std::set<std::string> trainable_;
};

}  // namespace ort_train::training
