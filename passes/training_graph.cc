#include "passes/training_graph.h"

#include <algorithm>

#include "base/error.h"
#include "graph/builder.h"
#include "passes/assign_roles.h"
#include "passes/attach_losses.h"
#include "passes/attach_optimizer.h"
#include "passes/autodiff.h"
#include "passes/bind_shapes.h"
#include "passes/bucket_all_reduce.h"
#include "passes/canonicalize_windows.h"
#include "passes/eliminate_dead_code.h"
#include "passes/eliminate_duplicates.h"
#include "passes/fold_constants.h"
#include "passes/free_batch_size.h"
#include "passes/fuse_batch_normalization_relu.h"
#include "passes/lower_transposed_convolution.h"
#include "passes/mark_trainable.h"
#include "passes/normalize_opset.h"
#include "passes/partition_batch.h"
#include "passes/preflight.h"
#include "passes/shard_optimizer.h"
#include "passes/synchronize_batch_normalization.h"
#include "passes/training_form.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Value;

namespace {

/// Appends the backward part; remembers the name of each parameter's gradient for the passes that follow.
class Autodiff : public Pass {
 public:
  Autodiff(bool keep, std::map<std::string, std::string>& gradients) : keep_(keep), gradients_(gradients) {}
  std::string name() const override { return "autodiff"; }

  bool run(Graph& graph) override {
    const std::vector<Value*> parameters = graph.trainable_parameters();
    const std::map<Value*, Value*> gradients = add_gradients(graph, graph.at(loss_output), parameters);
    // In the order of the file, which is the same on every replica; that of the map is not.
    for (Value* parameter : parameters) {
      Value* const gradient = gradients.at(parameter);
      Value* result = gradient;
      if (keep_) {
        // A name of its own, whatever value the gradient happens to share.
        result = graph::Builder(graph, parameter->name() + ".").emit("Identity", {gradient});
        graph.rename(result, gradient_output(parameter->name()));
        graph.add_output(result);
      }
      gradients_[parameter->name()] = result->name();
    }
    return true;
  }

 private:
  bool keep_;
  std::map<std::string, std::string>& gradients_;
};

/// A training step need not deliver the model's own outputs.
class DropModelOutputs : public Pass {
 public:
  explicit DropModelOutputs(std::vector<std::string> model_outputs) : model_outputs_(std::move(model_outputs)) {}
  std::string name() const override { return "drop-model-outputs"; }

  bool run(Graph& graph) override {
    std::vector<Value*> kept;
    for (Value* output : graph.outputs()) {
      const auto& names = model_outputs_;
      if (std::find(names.begin(), names.end(), output->name()) == names.end()) kept.push_back(output);
    }
    graph.set_outputs(std::move(kept));
    return true;
  }

 private:
  std::vector<std::string> model_outputs_;
};

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* output : graph.outputs()) names.push_back(output->name());
  return names;
}

bool asks_for_another_batch(const Graph& model, const std::map<std::string, Dims>& input_dims) {
  for (const Value* input : model.inputs()) {
    const auto given = input_dims.find(input->name());
    if (given == input_dims.end() || given->second.empty() || !input->type().shape || input->type().shape->empty()) {
      continue;
    }
    const graph::Dimension& declared = input->type().shape->front();
    if (declared.is_known() && declared.value() != given->second.front()) return true;
  }
  return false;
}

/// What training and evaluation have in common: from the file to a static graph in the newest opset.
void add_import_passes(Pipeline& pipeline, const Graph& model, const TrainingSpec& spec,
                       const std::map<std::string, Dims>& input_dims, bool training) {
  pipeline.add<NormalizeOpset>();
  pipeline.add<AssignRoles>();
  if (asks_for_another_batch(model, input_dims)) pipeline.add<FreeBatchSize>();
  if (training) pipeline.add<MarkTrainable>(spec);
  pipeline.add<Preflight>(training ? spec : TrainingSpec{});
  pipeline.add<BindShapes>(input_dims);
  if (!spec.preparations.empty()) pipeline.add<PrepareInputs>(spec.preparations);
  pipeline.add<FoldConstants>();
}

void add_lowering_passes(Pipeline& pipeline) {
  pipeline.add<CanonicalizeWindows>();
  pipeline.add<LowerTransposedConvolution>();
  pipeline.add<EliminateDuplicates>();
  pipeline.add<EliminateDeadCode>();
}

BatchInputs batch_inputs(const Graph& model, const TrainingSpec& spec, const std::map<std::string, Dims>& input_dims) {
  BatchInputs batch;
  for (const Value* input : model.inputs()) {
    const auto axis = spec.batch_axes.find(input->name());
    batch.axes[input->name()] = axis == spec.batch_axes.end() ? 0 : axis->second;
    const Dims& dims = input_dims.at(input->name());
    const auto place = static_cast<std::size_t>(batch.axes[input->name()]);
    if (spec.preparations.count(input->name()) != 0) {
      batch.axes[data_input(input->name())] = batch.axes[placement_input(input->name())] = 0;
    }
    if (place >= dims.size()) {
      fail("the input '", input->name(), "' has the extents ", to_string(dims), ", so no axis ", place,
           " that could hold the samples");
    }
    batch.samples = dims[place];
  }
  return batch;
}

/// In training, labels are fed and the model's outputs come as in evaluation, wherever Dropout and the gradients need
/// them.
BatchInputs training_batch_inputs(const Graph& model, const TrainingSpec& spec,
                                  const std::map<std::string, Dims>& input_dims) {
  TrainingSpec quiet = spec;
  quiet.dump_folder.clear();
  const std::unique_ptr<Graph> evaluation = build_evaluation_graph(model, quiet, input_dims);
  BatchInputs batch = batch_inputs(model, spec, input_dims);
  const std::map<std::string, Sharding> inputs = input_shardings(*evaluation, batch);
  const std::map<std::string, Sharding> outputs = output_shardings(*evaluation, batch);
  for (const auto& [input, sharding] : inputs) {
    if (batch.axes.count(input) == 0) batch.labels[input] = sharding;
  }
  batch.outputs = outputs;
  return batch;
}

/// From the graph of the whole batch to that of one replica.
void add_partition_passes(Pipeline& pipeline, const BatchInputs& batch, const Replication& replication) {
  if (!replication.divides()) return;
  pipeline.add<EliminateDeadCode>();
  if (replication.statistics == Replication::Statistics::synchronized) pipeline.add<SynchronizeBatchNormalization>();
  pipeline.add<PartitionBatch>(batch, replication);
  if (replication.shard_optimizer) pipeline.add<ShardOptimizer>(replication.replicas, replication.rank);
  pipeline.add<FoldConstants>();
}

void configure(Pipeline& pipeline, const TrainingSpec& spec) {
  for (const std::string& pass : spec.disabled_passes) pipeline.disable(pass);
  if (!spec.dump_folder.empty()) pipeline.dump_to(spec.dump_folder);
}

}  // namespace

std::string loss_sum_output(std::size_t loss) { return text("ort_train.loss.", loss, ".sum"); }
std::string loss_count_output(std::size_t loss) { return text("ort_train.loss.", loss, ".count"); }
std::string metric_sum_output(std::size_t metric) { return text("ort_train.metric.", metric, ".sum"); }
std::string metric_count_output(std::size_t metric) { return text("ort_train.metric.", metric, ".count"); }
std::string gradient_output(const std::string& parameter) { return "ort_train.gradient." + parameter; }
std::string slot_name(const std::string& slot, const std::string& parameter) {
  return "ort_train." + slot + "." + parameter;
}

std::unique_ptr<Graph> build_training_graph(const Graph& model, const TrainingSpec& given,
                                            const std::map<std::string, Dims>& input_dims,
                                            const Replication& replication, std::vector<Pipeline::Record>* records) {
  const TrainingSpec spec = resolve(model, given);
  if (spec.losses.empty()) fail_usage("training needs a loss");
  std::unique_ptr<Graph> graph = model.clone();
  std::map<std::string, std::string> gradients;
  Pipeline pipeline;
  add_import_passes(pipeline, model, spec, input_dims, true);
  pipeline.add<TrainingForm>(spec.form, spec.seed);
  add_lowering_passes(pipeline);
  pipeline.add<AttachLosses>(spec);
  pipeline.add<AttachMetrics>(spec);
  pipeline.add<Autodiff>(spec.keep_gradients, gradients);
  pipeline.add<AttachOptimizer>(spec.optimizer, gradients);
  if (!spec.keep_outputs) pipeline.add<DropModelOutputs>(output_names(model));
  if (replication.divides()) {
    add_partition_passes(pipeline, training_batch_inputs(model, spec, input_dims), replication);
  }
  pipeline.add<FuseBatchNormalizationRelu>();
  pipeline.add<EliminateDuplicates>();
  pipeline.add<EliminateDeadCode>();
  if (replication.replicas > 1) pipeline.add<BucketAllReduce>(replication.bucket_bytes);
  configure(pipeline, spec);
  const std::vector<Pipeline::Record> done = pipeline.run(*graph);
  if (records != nullptr) *records = done;
  return graph;
}

std::unique_ptr<Graph> build_evaluation_graph(const Graph& model, const TrainingSpec& given,
                                              const std::map<std::string, Dims>& input_dims,
                                              const Replication& replication) {
  const TrainingSpec spec = resolve(model, given);
  std::unique_ptr<Graph> graph = model.clone();
  Pipeline pipeline;
  add_import_passes(pipeline, model, spec, input_dims, false);
  pipeline.add<InferenceForm>(spec.seed);
  add_lowering_passes(pipeline);
  pipeline.add<AttachLosses>(spec);
  pipeline.add<AttachMetrics>(spec);
  pipeline.add<EliminateDeadCode>();
  if (replication.replicas > 1) {
    Replication division = replication;
    division.accumulate = 1;
    add_partition_passes(pipeline, batch_inputs(model, spec, input_dims), division);
    pipeline.add<EliminateDeadCode>();
    pipeline.add<BucketAllReduce>(replication.bucket_bytes);
  }
  pipeline.run(*graph);
  return graph;
}

std::map<std::string, graph::Type> label_types(const Graph& model, const TrainingSpec& spec,
                                               const std::map<std::string, Dims>& input_dims) {
  const std::unique_ptr<Graph> graph = build_evaluation_graph(model, spec, input_dims);
  std::map<std::string, graph::Type> types;
  for (const Value* input : graph->inputs()) {
    if (model.find(input->name()) == nullptr) types[input->name()] = input->type();
  }
  return types;
}

std::map<std::string, Sharding> input_shardings(const Graph& model, const TrainingSpec& spec,
                                                const std::map<std::string, Dims>& input_dims) {
  const std::unique_ptr<Graph> graph = build_evaluation_graph(model, spec, input_dims);
  return input_shardings(*graph, batch_inputs(model, spec, input_dims));
}

std::map<std::string, Sharding> output_shardings(const Graph& model, const TrainingSpec& spec,
                                                 const std::map<std::string, Dims>& input_dims) {
  const std::unique_ptr<Graph> graph = build_evaluation_graph(model, spec, input_dims);
  return output_shardings(*graph, batch_inputs(model, spec, input_dims));
}

}  // namespace ort_train::passes
