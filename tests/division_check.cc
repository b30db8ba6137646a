#include "tests/division_check.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/shard.h"
#include "kernels/kernel.h"
#include "tests/difference.h"
#include "tests/replica_interpreter.h"
#include "tests/sharding_support.h"

namespace ort_train::tests {

using graph::Graph;
using graph::Value;
using passes::Replication;

namespace {

constexpr double bound = 1e-10;
constexpr int steps = 3;

bool is_fed_by_training(const std::string& name) { return name.rfind("ort_train.", 0) == 0; }

Arrays feeds_of_training(std::int64_t step, std::int64_t first_sample) {
  return {{passes::learning_rate_input, Tensor::scalar(0.1F)},
          {passes::step_input, Tensor::scalar(step)},
          {passes::first_sample_input, Tensor::scalar(first_sample)}};
}

/// Slots of a sharded optimizer have other extents; what they hold shows in the parameters of the next step.
bool is_slot(const std::string& name) {
  return name.rfind("ort_train.m", 0) == 0 && name.rfind("ort_train.metric", 0) != 0;
}

}  // namespace

Tensor random_input(const graph::Value& input, std::int64_t classes, std::uint32_t step) {
  const std::uint64_t key = std::hash<std::string>()(input.name()) >> 16;
  RandomStream stream(3, RandomPurpose::augmentation, step, key);
  std::vector<double> values(static_cast<std::size_t>(element_count(input.dims())));
  for (double& value : values) {
    value = is_floating_point(input.dtype()) ? stream.uniform(0.0F, 1.0F)
                                             : static_cast<double>(stream.below(static_cast<std::uint64_t>(classes)));
  }
  return Tensor::of(input.dims(), values).cast(input.dtype());
}

std::vector<Arrays> train_whole(const Run& run) {
  const auto graph = passes::build_training_graph(*run.model, run.spec, run.input_dims);
  Arrays state;
  std::vector<Arrays> results;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    Arrays feeds = feeds_of_training(step, 0);
    for (const Value* input : graph->inputs()) {
      if (!is_fed_by_training(input->name())) feeds[input->name()] = random_input(*input, run.classes, step);
    }
    feeds.insert(state.begin(), state.end());
    results.push_back(kernels::interpret(*graph, feeds));
    for (const graph::Update& update : graph->updates())
      state[update.state->name()] = results.back()[update.state->name()];
  }
  return results;
}

std::vector<std::vector<Arrays>> train_replicas(const Run& run, const Replication& division) {
  std::vector<std::unique_ptr<Graph>> graphs;
  for (int rank = 0; rank < division.replicas; ++rank) {
    Replication replication = division;
    replication.rank = rank;
    graphs.push_back(passes::build_training_graph(*run.model, run.spec, run.input_dims, replication));
  }
  const auto shardings = passes::input_shardings(*run.model, run.spec, run.input_dims);
  const auto whole = passes::build_training_graph(*run.model, run.spec, run.input_dims);
  std::vector<Arrays> states(graphs.size());
  std::vector<std::vector<Arrays>> results;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    std::vector<Arrays> feeds;
    for (int rank = 0; rank < division.replicas; ++rank) {
      const Shard shard = shard_of(run.batch, division.replicas, rank);
      feeds.push_back(feeds_of_training(step, shard.first));
      for (const Value* input : whole->inputs()) {
        if (is_fed_by_training(input->name())) continue;
        const Tensor all = random_input(*input, run.classes, step);
        feeds.back()[input->name()] = rows_of(all, shardings.at(input->name()), run.batch, shard);
      }
      const Arrays& state = states[static_cast<std::size_t>(rank)];
      feeds.back().insert(state.begin(), state.end());
    }
    results.push_back(interpret_replicas(graphs, feeds));
    for (std::size_t rank = 0; rank < graphs.size(); ++rank) {
      for (const graph::Update& update : graphs[rank]->updates()) {
        states[rank][update.state->name()] = results.back()[rank][update.state->name()];
      }
    }
  }
  return results;
}

void compare(const Run& run, const Replication& division, const std::vector<Arrays>& expected) {
  CAPTURE(division.replicas);
  CAPTURE(division.accumulate);
  CAPTURE(division.shard_optimizer);
  CAPTURE(division.bucket_bytes);
  const auto results = train_replicas(run, division);
  const auto shardings = passes::output_shardings(*run.model, run.spec, run.input_dims);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    for (std::size_t rank = 0; rank < results[step].size(); ++rank) {
      for (const auto& entry : expected[step]) {
        if (division.shard_optimizer && is_slot(entry.first)) continue;
        const auto found = results[step][rank].find(entry.first);
        REQUIRE_MESSAGE((found != results[step][rank].end()), entry.first);
        Tensor wanted = entry.second;
        if (const auto sharding = shardings.find(entry.first); sharding != shardings.end()) {
          const Shard shard = shard_of(run.batch, division.replicas, static_cast<std::int64_t>(rank));
          wanted = rows_of(wanted, sharding->second, run.batch, shard);
        }
        CHECK_MESSAGE((largest_difference(wanted, found->second) < bound),
                      entry.first << " in step " << step + 1 << " on replica " << rank);
      }
    }
  }
}

void check_all_divisions(const Run& run) {
  const std::vector<Arrays> expected = train_whole(run);
  for (const int replicas : {1, 2, 3, 4, 7}) {
    for (const int accumulate : {1, 2, 3}) {
      Replication division;
      division.replicas = replicas;
      division.accumulate = accumulate;
      division.statistics = Replication::Statistics::synchronized;
      if (!division.divides()) continue;
      compare(run, division, expected);
    }
    Replication sharded;
    sharded.replicas = replicas;
    sharded.statistics = Replication::Statistics::synchronized;
    sharded.shard_optimizer = true;
    sharded.bucket_bytes = 40;
    if (sharded.divides()) compare(run, sharded, expected);
  }
}

passes::TrainingSpec spec_of(std::vector<passes::LossSpec> losses, const std::string& optimizer) {
  passes::TrainingSpec spec;
  spec.losses = std::move(losses);
  spec.optimizer.type = optimizer;
  if (optimizer == "sgd") spec.optimizer.momentum = 0.9;
  spec.optimizer.weight_decay = 0.01;
  return spec;
}

}  // namespace ort_train::tests
