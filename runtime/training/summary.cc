#include "runtime/training/summary.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/shard.h"
#include "graph/shape_inference.h"
#include "runtime/training/text_format.h"

namespace ort_train::training {
namespace {

std::string padded(const std::string& cell, std::size_t width) {
  return cell.size() >= width ? cell : cell + std::string(width - cell.size(), ' ');
}

std::string type_of(const graph::Value& value) { return value.name() + " " + graph::to_string(value.type()); }

std::string list_of(const std::vector<graph::Value*>& values) {
  std::string result;
  for (const graph::Value* value : values) result += (result.empty() ? "" : ", ") + type_of(*value);
  return result;
}

/// One row of the table of layers.
struct Layer {
  std::string name, op_type, output;
  std::int64_t parameters = 0;
};

/// The model with the types of intermediate values, which a file need not hold.
std::unique_ptr<graph::Graph> with_types(const graph::Graph& model) {
  auto graph = model.clone();
  try {
    graph::infer_types(*graph);
  } catch (const Error&) {
    // Shapes that follow from elements are known only for a given batch; the table shows what the file says.
  }
  return graph;
}

std::string shape_of(const graph::Value& value) {
  return value.type().dtype == DataType::undefined ? "" : graph::to_string(value.type());
}

std::vector<Layer> layers_of(const graph::Graph& model, const runtime::State& state) {
  std::set<std::string> counted;  // a shared parameter belongs to the first layer that reads it
  std::vector<Layer> layers;
  for (const auto& node : model.nodes()) {
    if (node->is("Constant")) continue;
    Layer layer{node->name(), node->op_type(), "", 0};
    for (const graph::Value* output : node->outputs()) {
      if (output == nullptr) continue;
      if (layer.name.empty()) layer.name = output->name();
      if (layer.output.empty()) layer.output = shape_of(*output);
    }
    for (const graph::Value* input : node->inputs()) {
      const bool is_parameter =
          input != nullptr && state.contains(input->name()) && state.role(input->name()) == graph::Role::parameter;
      if (is_parameter && counted.insert(input->name()).second) layer.parameters += input->initial().size();
    }
    layers.push_back(layer);
  }
  return layers;
}

std::string table(const std::vector<Layer>& layers) {
  std::size_t name = 5, op_type = 8, output = 6;
  for (const Layer& layer : layers) {
    name = std::max(name, layer.name.size());
    op_type = std::max(op_type, layer.op_type.size());
    output = std::max(output, layer.output.size());
  }
  std::string result =
      padded("layer", name) + "  " + padded("operator", op_type) + "  " + padded("output", output) + "  parameters\n";
  for (const Layer& layer : layers) {
    result += padded(layer.name, name) + "  " + padded(layer.op_type, op_type) + "  " + padded(layer.output, output) +
              "  " + with_separators(layer.parameters) + "\n";
  }
  return result;
}

std::string parameter_totals(const runtime::State& state, const std::set<std::string>& trainable) {
  std::int64_t learned = 0, frozen = 0, statistics = 0;
  for (const std::string& name : state.names()) {
    const graph::Role role = state.role(name);
    const std::int64_t size = state.get(name).size();
    if (role == graph::Role::parameter) (trainable.count(name) != 0 ? learned : frozen) += size;
    if (role == graph::Role::running_statistic) statistics += size;
  }
  return text("parameters: ", with_separators(learned), " trainable, ", with_separators(frozen), " frozen",
              statistics > 0 ? text("; running statistics: ", with_separators(statistics)) : "", "\n");
}

std::string memory(const runtime::PlanReport& plan, std::int64_t batch_size) {
  return text("memory: ", in_bytes(plan.state_bytes), " state, ", in_bytes(plan.arena_bytes), " intermediates (",
              in_bytes(plan.sum_of_values_bytes), " without reuse), ", in_bytes(plan.scratchpad_bytes),
              " scratchpad, for ", batch_size, " samples a step\n");
}

std::string replicas(const TrainingConfig& config, std::int64_t batch) {
  const std::int64_t count = replicas_of(config);
  std::string result;
  if (count > 1) {
    const std::int64_t most = shard_of(batch, count, 0).rows, least = shard_of(batch, count, count - 1).rows;
    result += text("replicas: ", count);
    if (config.processes > 1) result += text(" (", config.processes, " processes of ", config.replicas, ")");
    result += text(", ", most == least ? text(most) : text(least, " to ", most), " samples each; batch normalization ",
                   config.batch_norm == passes::Replication::Statistics::local ? "local" : "synchronized",
                   config.shard_optimizer ? "; optimizer state divided" : "", "\n");
  }
  if (config.accumulate > 1) result += text("micro-batches: ", config.accumulate, " for each update\n");
  return result;
}

std::string samples(const Trainer& trainer) {
  const data::Splits& splits = trainer.task().splits();
  return text("samples: ", with_separators(splits.training->size()), " for training in ",
              with_separators(trainer.steps_per_epoch()), " steps of ", global_batch(trainer.config()),
              splits.validation != nullptr ? text(", ", with_separators(splits.validation->size()), " for validation")
                                           : ", none for validation",
              "\n");
}

std::string losses(const Trainer& trainer) {
  std::string result = "loss: ";
  const auto& specs = trainer.task().spec().losses;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i > 0) result += " + ";
    if (specs[i].weight != 1) result += text(specs[i].weight, " * ");
    result += text(specs[i].type, "(", specs[i].output, ", ", specs[i].label, ")");
  }
  result += "; metrics:";
  for (const std::string& name : trainer.metric_names()) result += " " + name;
  return result + (trainer.metric_names().empty() ? " none\n" : "\n");
}

std::string optimizer(const Trainer& trainer) {
  const passes::OptimizerSpec& spec = trainer.task().spec().optimizer;
  std::string result = "optimizer: " + spec.type;
  if (spec.momentum > 0) result += text(spec.nesterov ? ", Nesterov momentum " : ", momentum ", spec.momentum);
  if (spec.type != "sgd") result += text(", beta1 ", spec.beta1, ", beta2 ", spec.beta2, ", epsilon ", spec.epsilon);
  if (spec.weight_decay > 0) result += text(", weight decay ", spec.weight_decay);
  const Schedule& schedule = trainer.config().schedule;
  return result + text("; learning rate ", schedule.learning_rate, ", ", describe(schedule), "\n");
}

}  // namespace

std::string summary(Trainer& trainer) {
  const graph::Graph& model = trainer.task().model();
  Program& program = trainer.program();
  const std::int64_t batch_size = std::min(global_batch(trainer.config()), trainer.task().splits().training->size());
  std::string result = table(layers_of(*with_types(model), program.state()));
  result += "\nmodel: " + list_of(model.inputs()) + " -> " + list_of(model.outputs()) + "\n";
  result += parameter_totals(program.state(), program.trainable());
  const std::int64_t rows = shard_of(batch_size, replicas_of(trainer.config()), 0).rows;
  result += memory(program.training(batch_size).report(), rows);
  result += replicas(trainer.config(), batch_size);
  result += samples(trainer) + losses(trainer) + optimizer(trainer);
  for (const std::string& note : trainer.notes()) result += "note: " + note + "\n";
  return result;
}

}  // namespace ort_train::training
