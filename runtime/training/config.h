#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes/training_graph.h"
#include "runtime/data/augmentation.h"
#include "runtime/training/schedule.h"

namespace ort_train::training {

/// Where samples come from.
struct DataConfig {
  std::filesystem::path path;            ///< a file or folder; see data::open_dataset
  std::filesystem::path validation;      ///< samples to validate on; empty: what lies at `path`, or a share of it
  std::string kind;                      ///< cifar10, cifar100, mnist, images, arrays; empty: recognized
  double validation_split = 0.1;         ///< share of the samples to validate on where nothing else says so; 0: none
  std::vector<std::int64_t> image_size;  ///< height and width that pictures are brought to; empty: the model's
  /// Model input (label) name -> array name. Empty: matched by name, else in order.
  std::map<std::string, std::string> inputs, labels;
};

/// (pixel * scale - mean) / std, in this order.
struct PreprocessingConfig {
  double scale = 1;
  /// none; image: the mean image of the training set; channel: its mean of each channel; values: those given.
  enum class Mean { none, image, channel, values };
  Mean mean = Mean::none;
  std::vector<double> mean_values;
  /// none; channel: that of the training set; values: one a channel, or one for all.
  enum class Deviation { none, channel, values };
  Deviation deviation = Deviation::none;
  std::vector<double> deviation_values;
  bool resize = false;     ///< images of another size than the model's are resized; otherwise they are an error
  bool on_device = false;  ///< by nodes of the graph, instead of the threads that load samples
  std::string layout;      ///< "channels_first" or "channels_last" of the model's input; empty: from its shape
};

/// Everything that a training run is told. Defaults are those of the command; every field is an option of it and a key
/// of a recipe (see config_options.h).
struct TrainingConfig {
  std::filesystem::path model;
  DataConfig data;
  PreprocessingConfig preprocessing;
  data::Augmentation augmentation;

  std::int64_t epochs = 10;
  std::int64_t batch_size = 32;                   ///< samples of a replica that it works on at once
  std::optional<std::int64_t> global_batch_size;  ///< samples of an update, instead of batch_size; see global_batch()
  std::int64_t accumulate = 1;                    ///< micro-batches of an update on each replica
  /// The axis along which each model input holds the samples, by name; "" for all others. Absent: see batch_axes().
  std::map<std::string, std::int64_t> batch_axis;
  bool drop_last = false;  ///< leave out a last batch that is not full
  bool shuffle = true;

  std::vector<passes::LossSpec> losses;  ///< empty: chosen by the model's output
  passes::OptimizerSpec optimizer;
  Schedule schedule;                                       ///< with the initial learning rate
  std::optional<std::vector<passes::MetricSpec>> metrics;  ///< absent: chosen by the loss
  std::vector<std::string> trainable, freeze;
  std::uint64_t seed = 0;

  std::filesystem::path output;      ///< trained model; empty: MODEL-trained.onnx in the working directory
  std::filesystem::path history;     ///< CSV; empty: none
  std::filesystem::path curves;      ///< PNG or SVG; empty: none
  std::filesystem::path checkpoint;  ///< folder; empty: no checkpoints
  std::int64_t checkpoint_every_epochs = 1;
  std::int64_t checkpoint_every_steps = 0;  ///< 0: only at the end of epochs
  std::filesystem::path resume;             ///< a checkpoint file, or a folder of them; empty: from the start

  std::int64_t threads = 0;              ///< 0: one a core
  bool winograd = true;                  ///< see runtime::CompileOptions
  std::string device = "cpu";            ///< or "cuda", with one of `gpus` for each replica
  std::vector<std::int64_t> gpus;        ///< which, counted as CUDA_VISIBLE_DEVICES leaves them; none: train on the CPU
  bool tf32 = false, cuda_graph = true;  ///< see runtime::CudaOptions
  std::int64_t replicas = 1;             ///< of this process
  passes::Replication::Statistics batch_norm = passes::Replication::Statistics::local;
  bool shard_optimizer = false;
  std::int64_t bucket_bytes = passes::Replication().bucket_bytes;
  double collective_timeout = 600;  ///< seconds that a replica is waited for
  int processes = 1, process = 0;   ///< of the run, and which of them this one is
  std::vector<std::string> disabled_passes;
  std::filesystem::path dump_passes;  ///< empty: no dump
  bool quiet = false;
};

/// Replicas of all processes.
std::int64_t replicas_of(const TrainingConfig& config);

/// Samples of one update over all replicas: global_batch_size, or batch_size for each micro-batch of each replica.
std::int64_t global_batch(const TrainingConfig& config);

/// Samples of a batch of validation over all replicas: as many as they train on at once.
std::int64_t evaluation_batch(const TrainingConfig& config);

/// What replica `rank` of the run does.
passes::Replication replication_of(const TrainingConfig& config, std::int64_t rank);

/// Throws (usage) when options contradict each other or ask for what this build does not have.
void check(const TrainingConfig& config);
/// The same for evaluation and prediction, which divide nothing: they take one GPU at most.
void check_evaluation(const TrainingConfig& config);

}  // namespace ort_train::training
