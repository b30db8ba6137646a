#include "runtime/training/explanation.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/random.h"
#include "base/shard.h"
#include "runtime/collectives/rehearsal_collective.h"
#include "runtime/collectives/traffic.h"

namespace ort_train::training {
namespace {

constexpr int timed_steps = 3;

/// Floats in [0, 1); class 0 for labels and row 0 for indices.
Tensor random_elements(const graph::Value& input) {
  Tensor elements(input.dtype(), input.dims());
  if (!is_floating_point(input.dtype())) return elements;
  RandomStream stream(0, RandomPurpose::initialization);
  std::vector<double> values(static_cast<std::size_t>(elements.size()));
  for (double& value : values) value = stream.uniform();
  return Tensor::of(input.dims(), values).cast(input.dtype());
}

void feed(const graph::Graph& graph, runtime::Executable& executable) {
  for (const graph::Value* input : graph.inputs()) {
    Tensor elements = random_elements(*input);
    if (input->name() == passes::step_input) elements = Tensor::scalar(std::int64_t{1});
    // Steps that are timed one after the other must not run away.
    if (input->name() == passes::learning_rate_input) elements = Tensor::scalar(0.0F);
    executable.set_input(input->name(), elements);
  }
}

bool is_wait(const runtime::ProfileEntry& entry) { return entry.op_type.find(" (wait)") != std::string::npos; }

bool is_start(const runtime::ProfileEntry& entry) {
  return entry.op_type == "AllReduce" || entry.op_type == "ReduceScatter" || entry.op_type == "AllGather";
}

/// Goes through the instructions with a clock and notes when collectives begin and are waited for. Instructions that
/// start a collective stand in the order of the operations. What the rehearsal itself does counts as computation; it
/// is a copy of what is gathered at most.
void put_on_clock(const std::vector<runtime::ProfileEntry>& profile, const std::vector<runtime::Operation>& operations,
                  const std::map<std::string, std::size_t>& operands, Explanation& explanation) {
  double now = 0;
  std::map<std::string, std::size_t> by_node;
  for (const runtime::ProfileEntry& entry : profile) {
    if (is_wait(entry)) {
      const auto found = by_node.find(entry.node);
      if (found != by_node.end()) explanation.collectives[found->second].needed = now;
      continue;
    }
    now += entry.milliseconds / 1000 / static_cast<double>(std::max<std::int64_t>(entry.runs, 1));
    if (!is_start(entry) || explanation.collectives.size() == operations.size()) continue;
    by_node[entry.node] = explanation.collectives.size();
    explanation.collectives.push_back(
        {operations[explanation.collectives.size()], entry.node, operands.at(entry.node), now, now});
  }
  explanation.compute_seconds = now;
}

std::size_t bytes_of(const graph::Graph& graph, graph::Role role) {
  std::size_t bytes = 0;
  for (const graph::Value* value : graph.initializers()) {
    if (value->role() == role) bytes += value->initial().bytes();
  }
  return bytes;
}

/// What the instructions took since `earlier`.
std::vector<runtime::ProfileEntry> difference(std::vector<runtime::ProfileEntry> profile,
                                              const std::vector<runtime::ProfileEntry>& earlier) {
  for (std::size_t i = 0; i < profile.size(); ++i) {
    profile[i].milliseconds -= earlier[i].milliseconds;
    profile[i].runs -= earlier[i].runs;
  }
  return profile;
}

/// Arrays that each collective joins, by the name of its node: the compiler may begin them in another order than that
/// of the graph.
std::map<std::string, std::size_t> operands_by_node(const graph::Graph& graph) {
  std::map<std::string, std::size_t> operands;
  for (const auto& node : graph.nodes()) {
    for (const char* kind : {"AllReduce", "ReduceScatter", "AllGather"}) {
      if (node->is(kind, graph::training_domain)) operands[node->name()] = node->inputs().size();
    }
  }
  return operands;
}

std::int64_t global_batch(const graph::Graph& model, const passes::TrainingSpec& spec,
                          const std::map<std::string, Dims>& input_dims) {
  const std::string name = model.inputs().front()->name();
  const auto axis = spec.batch_axes.find(name);
  return input_dims.at(name).at(axis == spec.batch_axes.end() ? 0 : static_cast<std::size_t>(axis->second));
}

}  // namespace

Explanation explain(const graph::Graph& model, const passes::TrainingSpec& spec,
                    const std::map<std::string, Dims>& input_dims, const passes::Replication& replication, int threads,
                    bool winograd) {
  if (model.inputs().empty()) fail("the model has no input that samples could be fed to");
  Explanation explanation;
  passes::Replication first = replication;
  first.rank = 0;
  const auto graph = passes::build_training_graph(model, spec, input_dims, first, &explanation.passes);
  explanation.replicas = replication.replicas;
  explanation.accumulate = replication.accumulate;
  explanation.global_batch = global_batch(model, spec, input_dims);
  explanation.replica_batch = shard_of(explanation.global_batch, replication.replicas, 0).rows;
  explanation.parameter_bytes = bytes_of(*graph, graph::Role::parameter);
  explanation.slot_bytes = bytes_of(*graph, graph::Role::optimizer_slot);

  runtime::RehearsalCollective collective(0, replication.replicas);
  const auto device = runtime::make_cpu_device(threads);
  runtime::CompileOptions options;
  options.profile = true;
  options.winograd = winograd;
  options.collective = &collective;
  const auto executable = device->compile(*graph, device->make_state(), options);
  feed(*graph, *executable);
  // The first step touches new memory, so its time does not count.
  executable->run();
  const std::vector<runtime::ProfileEntry> first_step = executable->profile();
  for (int step = 0; step < timed_steps; ++step) {
    collective.forget();
    executable->run();
  }
  explanation.plan = executable->report();
  put_on_clock(difference(executable->profile(), first_step), collective.operations(), operands_by_node(*graph),
               explanation);
  return explanation;
}

runtime::Collective::Statistics traffic_of(const Explanation& explanation, const runtime::Layout& layout, int rank) {
  runtime::Collective::Statistics sum;
  for (const ExplainedCollective& collective : explanation.collectives) {
    sum += runtime::traffic_of(collective.operation, layout, rank);
  }
  return sum;
}

StepPrediction predict_step(const Explanation& explanation, const runtime::Interconnect& interconnect,
                            runtime::CollectiveAlgorithm algorithm, std::optional<double> compute_seconds) {
  const double compute = compute_seconds.value_or(explanation.compute_seconds);
  const double scale = explanation.compute_seconds > 0 ? compute / explanation.compute_seconds : 1;
  StepPrediction prediction;
  const std::size_t count = explanation.collectives.size();
  std::vector<double> seconds(count), done(count);
  double network_free = 0, delay = 0;
  prediction.hidden.assign(count, 1);
  // Where the replica waits, everything behind is late by as much; those that are needed first are waited for first.
  std::multimap<double, std::size_t> under_way;  // by when they are needed
  const auto wait_until = [&](double now) {
    for (; !under_way.empty() && under_way.begin()->first <= now; under_way.erase(under_way.begin())) {
      const auto [needed, i] = *under_way.begin();
      const double waited = std::max(0.0, done[i] - needed * scale - delay);
      delay += waited;
      if (waited > 0) prediction.hidden[i] = 1 - std::min(1.0, waited / seconds[i]);
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    const ExplainedCollective& collective = explanation.collectives[i];
    wait_until(collective.ready);
    seconds[i] = runtime::seconds_of(collective.operation, explanation.replicas, interconnect, algorithm);
    done[i] = std::max(network_free, collective.ready * scale + delay) + seconds[i];
    network_free = done[i];
    prediction.communication_seconds += seconds[i];
    under_way.emplace(collective.needed, i);
  }
  wait_until(std::numeric_limits<double>::infinity());
  prediction.exposed_seconds = delay;
  prediction.seconds = compute + delay;
  prediction.efficiency = prediction.seconds > 0 ? compute / prediction.seconds : 1;
  return prediction;
}

}  // namespace ort_train::training
