#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "graph/builder.h"
#include "passes/training_graph.h"

// What N replicas compute is compared with what one replica computes, in float64, by the plain kernels.
namespace ort_train::tests {

using Arrays = std::map<std::string, Tensor>;

/// Builds models whose parameters are random.
class Model {
 public:
  Model() : graph_(std::make_unique<graph::Graph>()), builder_(*graph_) { graph_->opsets[""] = 28; }

  graph::Builder& builder() { return builder_; }
  graph::Value* input(const std::string& name, const Dims& dims, DataType dtype = DataType::float64) {
    return graph_->add_input(name, graph::Type(dtype, dims));
  }
  graph::Value* parameter(const Dims& dims) {
    const std::string name = "w" + std::to_string(count_++);
    return graph_->add_initializer(name, graph::Role::parameter, random(dims, 0.5), true);
  }
  graph::Value* linear(graph::Value* x, std::int64_t from, std::int64_t to) {
    return builder_.add(builder_.emit("MatMul", {x, parameter({from, to})}), parameter({to}));
  }
  graph::Value* batch_normalization(graph::Value* x, std::int64_t channels) {
    graph::Value* mean = graph_->add_initializer("mean" + std::to_string(count_), graph::Role::parameter,
                                                 Tensor(DataType::float64, {channels}));
    graph::Value* variance =
        graph_->add_initializer("variance" + std::to_string(count_), graph::Role::parameter,
                                Tensor::of({channels}, std::vector<double>(static_cast<std::size_t>(channels), 1.0)));
    return builder_.emit("BatchNormalization", {x, parameter({channels}), parameter({channels}), mean, variance});
  }
  std::unique_ptr<graph::Graph> finish(const std::vector<std::pair<std::string, graph::Value*>>& outputs) {
    for (const auto& [name, value] : outputs) {
      graph_->rename(value, name);
      graph_->add_output(value);
    }
    return std::move(graph_);
  }

 private:
  Tensor random(const Dims& dims, double scale) {
    RandomStream stream(7, RandomPurpose::initialization, 0, static_cast<std::uint64_t>(count_));
    std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
    for (double& value : values) value = scale * stream.normal();
    return Tensor::of(dims, values);
  }

  std::unique_ptr<graph::Graph> graph_;
  graph::Builder builder_;
  int count_ = 0;
};

/// A training run to be divided.
struct Run {
  std::unique_ptr<graph::Graph> model;
  passes::TrainingSpec spec;
  std::map<std::string, Dims> input_dims;
  std::int64_t classes = 3;
  std::int64_t batch = 0;
  bool synchronized = true;
};

/// Arbitrary elements for an input in one step, the same wherever it is fed.
Tensor random_input(const graph::Value& input, std::int64_t classes, std::uint32_t step);

/// Results of a few steps on one replica: outputs and new state.
std::vector<Arrays> train_whole(const Run& run);

/// The same for each replica, by step and rank.
std::vector<std::vector<Arrays>> train_replicas(const Run& run, const passes::Replication& division);

/// Replicas give the outputs and the state that one replica gives.
void compare(const Run& run, const passes::Replication& division, const std::vector<Arrays>& expected);

/// Compares 1, 2, 3, 4 and 7 replicas with 1, 2 and 3 micro-batches, and with a sharded optimizer.
void check_all_divisions(const Run& run);

passes::TrainingSpec spec_of(std::vector<passes::LossSpec> losses, const std::string& optimizer = "sgd");

}  // namespace ort_train::tests
