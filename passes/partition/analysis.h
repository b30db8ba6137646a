#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "graph/graph.h"
#include "passes/partition/partition_rule.h"

namespace ort_train::passes {

/// Where the samples are among the inputs of a graph: the axis along which each input holds them, by name. Inputs that
/// are not named are labels, or scalars that are the same everywhere.
struct BatchInputs {
  std::int64_t samples = 0;
  std::map<std::string, std::int64_t> axes;
  /// How labels are fed and outputs are wanted, where another graph with the same ones has decided that already. An
  /// output that is left out is wanted whole; without the list, outputs are as they come.
  std::map<std::string, Sharding> labels = {};
  std::optional<std::map<std::string, Sharding>> outputs = std::nullopt;
};

/// How every value of a graph with static shapes lies when its batch is divided among replicas. Follows the samples
/// from the inputs through every node, in the manner of GSPMD (Xu and others, 2021), restricted to one axis. What
/// cannot be divided is computed from the rows of all samples, alike on every replica.
class PartitionAnalysis {
 public:
  /// Throws an Error that names the first node that can neither work on a divided batch nor be given a whole one.
  PartitionAnalysis(const graph::Graph& graph, const BatchInputs& batch);

  const Sharding& of(const graph::Value* value) const { return shardings_.at(value); }
  const Decision& of(const graph::Node& node) const { return decisions_.at(&node); }
  /// How an output of the graph is wanted: sharded, or whole on every replica.
  Sharding of_output(const graph::Value* output) const;

 private:
  void add_inputs(const graph::Graph& graph, const BatchInputs& batch);
  void decide(const graph::Node& node);
  /// How a label lies that a node needs as `needed`, which is the first one to care.
  Sharding resolve_label(const graph::Value& label, const Sharding& needed) const;
  /// Finds sums that somebody needs reduced; then nobody goes on with the parts, which would have to be reduced again.
  /// Returns whether there are new ones.
  bool find_reduced(const graph::Graph& graph);

  std::int64_t samples_;
  std::optional<std::map<std::string, Sharding>> wanted_outputs_;
  std::unordered_map<const graph::Value*, Sharding> shardings_;
  std::unordered_map<const graph::Node*, Decision> decisions_;
  std::unordered_set<const graph::Value*> reduced_;
};

/// How the inputs of a graph hold the samples; those that hold none are left out.
std::map<std::string, Sharding> input_shardings(const graph::Graph& graph, const BatchInputs& batch);

/// How the outputs of a graph hold the samples; those that hold none are left out.
std::map<std::string, Sharding> output_shardings(const graph::Graph& graph, const BatchInputs& batch);

}  // namespace ort_train::passes
