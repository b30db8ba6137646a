#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/partition/sharding.h"
#include "passes/pass.h"
#include "passes/prepare_inputs.h"
#include "passes/replication.h"

namespace ort_train::passes {

/// One term of the total loss: `weight` times the mean over all counted elements.
struct LossSpec {
  /// softmax_cross_entropy (logits, or a trailing Softmax that is looked through), nll (log-probabilities), bce
  /// (probabilities; a trailing Sigmoid is looked through), bce_with_logits, mse, l1.
  std::string type;
  std::string output;  ///< graph output it reads; empty: the only one
  std::string label;   ///< name of the label input; empty: "label" (or "label_<output>" with several losses)
  double weight = 1.0;
  std::optional<std::int64_t> ignore_index;  ///< cross entropies: labels that do not count
};

struct OptimizerSpec {
  std::string type = "sgd";  ///< sgd, adam, adamw
  double momentum = 0.0;     ///< sgd
  bool nesterov = false;     ///< sgd
  double weight_decay = 0.0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw
};

struct MetricSpec {
  std::string type;        ///< accuracy, binary_accuracy, top_k, mse, mae
  std::string output;      ///< graph output; empty: that of the first loss
  std::string label;       ///< empty: that of the first loss
  std::int64_t k = 5;      ///< top_k
  double threshold = 0.5;  ///< binary_accuracy
  std::optional<std::int64_t> ignore_index;
};

/// How much of the file's form is taken at its word.
enum class Form {
  /// BatchNormalization and Dropout go into training mode whatever form the exporter left (BatchNormalization whose
  /// scale and bias are frozen stays in inference form); a trailing Softmax, LogSoftmax or Sigmoid fuses with the loss.
  training,
  /// BatchNormalization and Dropout stay in the mode that the file gives them; losses read the outputs as they are.
  as_in_file,
};

/// What is to be learned, and how.
struct TrainingSpec {
  Form form = Form::training;
  std::vector<LossSpec> losses;
  OptimizerSpec optimizer;
  std::vector<MetricSpec> metrics;
  /// Globs over initializer and node names. With no `trainable` every floating-point parameter that a gradient can
  /// reach is trained; `freeze` takes away from that. A glob that matches nothing is an error.
  std::vector<std::string> trainable, freeze;
  /// The axis along which a model input holds the samples; 0 for those that are not named.
  std::map<std::string, std::int64_t> batch_axes;
  /// Exact initializer names instead of globs (what a reference case lists).
  std::optional<std::vector<std::string>> trainable_names;
  /// Inputs that the graph itself prepares from the data. Their samples lie along axis 0.
  InputPreparations preparations;
  std::uint64_t seed = 0;
  bool keep_gradients = false;  ///< "ort_train.gradient.<parameter>" become graph outputs
  bool keep_outputs = false;    ///< the model's own outputs (training form) stay graph outputs
  std::vector<std::string> disabled_passes;
  std::filesystem::path dump_folder;  ///< empty: no dump
};

// Names that training adds to a graph.
inline constexpr const char* learning_rate_input = "ort_train.learning_rate";  ///< float32 scalar
inline constexpr const char* step_input = "ort_train.step";                    ///< int64 scalar, from 1
inline constexpr const char* first_sample_input = "ort_train.first_sample";    ///< int64 scalar: place in the batch
inline constexpr const char* loss_output = "ort_train.loss";                   ///< scalar: the total loss
std::string loss_sum_output(std::size_t loss);      ///< "ort_train.loss.<i>.sum", scalar, not weighted
std::string loss_count_output(std::size_t loss);    ///< "ort_train.loss.<i>.count", scalar
std::string metric_sum_output(std::size_t metric);  ///< "ort_train.metric.<i>.sum", scalar
std::string metric_count_output(std::size_t metric);
std::string gradient_output(const std::string& parameter);
/// Optimizer state of a parameter: "ort_train.<slot>.<parameter>" with slot momentum, moment1 or moment2.
std::string slot_name(const std::string& slot, const std::string& parameter);

/// The names and types of the label inputs that the losses and metrics read, for given extents of the model's inputs.
std::map<std::string, graph::Type> label_types(const graph::Graph& model, const TrainingSpec& spec,
                                               const std::map<std::string, Dims>& input_dims);

/// How the model's inputs and the labels hold the samples. Throws an Error that names the first node that cannot work
/// on a part of a batch.
std::map<std::string, Sharding> input_shardings(const graph::Graph& model, const TrainingSpec& spec,
                                                const std::map<std::string, Dims>& input_dims);

/// How the model's outputs hold the samples where they are kept; those that every replica has whole are left out.
std::map<std::string, Sharding> output_shardings(const graph::Graph& model, const TrainingSpec& spec,
                                                 const std::map<std::string, Dims>& input_dims);

/// The whole training step as a graph: forward in training form, losses, metrics, gradients and updates. `model` is as
/// loaded and is not changed. `input_dims` gives the extents of every model input, with the whole batch; inputs of the
/// result have those of the replica's shard. Throws ONE Error that lists every operator or attribute that stands in the
/// way.
std::unique_ptr<graph::Graph> build_training_graph(const graph::Graph& model, const TrainingSpec& spec,
                                                   const std::map<std::string, Dims>& input_dims,
                                                   const Replication& replication = {},
                                                   std::vector<Pipeline::Record>* records = nullptr);

/// Forward in inference form, with losses and metrics (none when the spec has none) and the model's outputs, which hold
/// the samples of the replica; no updates. Never works in micro-batches.
std::unique_ptr<graph::Graph> build_evaluation_graph(const graph::Graph& model, const TrainingSpec& spec,
                                                     const std::map<std::string, Dims>& input_dims,
                                                     const Replication& replication = {});

/// The model with new elements in its initializers, in inference form (BatchNormalization, Dropout), batch dimension
/// free, everything else as it was loaded: what is saved as the trained file. `state` maps initializer names to
/// elements.
std::unique_ptr<graph::Graph> build_inference_model(const graph::Graph& model,
                                                    const std::map<std::string, Tensor>& state);

}  // namespace ort_train::passes
