#include "passes/attach_optimizer.h"

#include "base/error.h"
#include "graph/builder.h"
#include "passes/scalar_input.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Role;
using graph::Value;

namespace {

Value* add_slot(Graph& graph, const std::string& slot, const Value* parameter) {
  return graph.add_initializer(slot_name(slot, parameter->name()), Role::optimizer_slot,
                               Tensor(parameter->dtype(), parameter->dims()));
}

void attach_sgd(Graph& graph, const OptimizerSpec& optimizer, Value* parameter, Value* gradient) {
  Value* rate = scalar_input(graph, learning_rate_input, DataType::float32);
  const Attributes attributes = {{"momentum", static_cast<float>(optimizer.momentum)},
                                 {"nesterov", std::int64_t{optimizer.nesterov}},
                                 {"weight_decay", static_cast<float>(optimizer.weight_decay)}};
  Builder builder(graph, parameter->name() + ".");
  if (optimizer.momentum == 0) {
    graph.add_update(parameter, builder.emit_training("SgdUpdate", {parameter, gradient, rate}, attributes));
    return;
  }
  Value* buffer = add_slot(graph, "momentum", parameter);
  const auto next = builder.emit_training_many("SgdUpdate", {parameter, gradient, rate, buffer}, 2, attributes);
  graph.add_update(parameter, next[0]);
  graph.add_update(buffer, next[1]);
}

void attach_adam(Graph& graph, const OptimizerSpec& optimizer, Value* parameter, Value* gradient) {
  Value* rate = scalar_input(graph, learning_rate_input, DataType::float32);
  Value* step = scalar_input(graph, step_input, DataType::int64);
  Value* first = add_slot(graph, "moment1", parameter);
  Value* second = add_slot(graph, "moment2", parameter);
  Builder builder(graph, parameter->name() + ".");
  const auto next = builder.emit_training_many("AdamUpdate", {parameter, gradient, rate, step, first, second}, 3,
                                               {{"beta1", static_cast<float>(optimizer.beta1)},
                                                {"beta2", static_cast<float>(optimizer.beta2)},
                                                {"epsilon", static_cast<float>(optimizer.epsilon)},
                                                {"weight_decay", static_cast<float>(optimizer.weight_decay)},
                                                {"decoupled", std::int64_t{optimizer.type == "adamw"}}});
  graph.add_update(parameter, next[0]);
  graph.add_update(first, next[1]);
  graph.add_update(second, next[2]);
}

void check(const OptimizerSpec& optimizer) {
  if (optimizer.type != "sgd" && optimizer.type != "adam" && optimizer.type != "adamw") {
    fail_usage("there is no optimizer named '", optimizer.type, "'; optimizers are sgd, adam, adamw");
  }
  if (optimizer.nesterov && optimizer.momentum <= 0) fail_usage("nesterov needs a momentum above 0");
}

}  // namespace

bool AttachOptimizer::run(Graph& graph) {
  check(optimizer_);
  for (Value* parameter : graph.trainable_parameters()) {
    Value* gradient = graph.at(gradients_.at(parameter->name()));
    if (optimizer_.type == "sgd") {
      attach_sgd(graph, optimizer_, parameter, gradient);
    } else {
      attach_adam(graph, optimizer_, parameter, gradient);
    }
  }
  return true;
}

}  // namespace ort_train::passes
