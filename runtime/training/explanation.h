#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes/training_graph.h"
#include "runtime/collectives/collective.h"
#include "runtime/collectives/cost_model.h"
#include "runtime/collectives/layout.h"
#include "runtime/executable.h"

namespace ort_train::training {

/// One collective of a training step, on the clock of one replica that computes without ever waiting.
struct ExplainedCollective {
  runtime::Operation operation;
  std::string name;
  std::size_t operands = 0;  ///< arrays that it joins
  double ready = 0;          ///< seconds after the start of the step at which it can begin
  double needed = 0;         ///< seconds after which the replica cannot go on without it
};

/// What a training step does on one replica, found by planning it and timing it alone.
struct Explanation {
  std::vector<passes::Pipeline::Record> passes;
  std::int64_t global_batch = 0, replica_batch = 0;
  int replicas = 1;
  std::int64_t accumulate = 1;
  runtime::PlanReport plan;
  std::size_t parameter_bytes = 0, slot_bytes = 0;  ///< of one replica
  double compute_seconds = 0;                       ///< of a step, without communication
  std::vector<ExplainedCollective> collectives;     ///< in the order of their beginning
};

/// Plans and times the step of replica 0 on the CPU of this machine; data are random. `input_dims` has the whole batch.
Explanation explain(const graph::Graph& model, const passes::TrainingSpec& spec,
                    const std::map<std::string, Dims>& input_dims, const passes::Replication& replication,
                    int threads = 0, bool winograd = true);

/// What all collectives of a step add to the statistics of replica `rank`. The layout has as many replicas as the
/// explanation.
runtime::Collective::Statistics traffic_of(const Explanation& explanation, const runtime::Layout& layout, int rank);

/// How long a step takes with a network.
struct StepPrediction {
  double seconds = 0;
  std::vector<double> hidden;  ///< of each collective, the share of its time in which the replica goes on computing
  double communication_seconds = 0;  ///< of all collectives
  double exposed_seconds = 0;        ///< of that, what computation does not hide
  double efficiency = 1;             ///< computation by step: the share of the ideal speed-up
};

/// Collectives follow one another, each from when it is ready. `compute_seconds` scales the clock to another machine's.
StepPrediction predict_step(const Explanation& explanation, const runtime::Interconnect& interconnect,
                            runtime::CollectiveAlgorithm algorithm,
                            std::optional<double> compute_seconds = std::nullopt);

}  // namespace ort_train::training
