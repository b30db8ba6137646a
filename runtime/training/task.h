#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/training_graph.h"
#include "runtime/data/loader.h"
#include "runtime/data/sample_reader.h"
#include "runtime/training/config.h"

namespace ort_train::training {

/// A model and its samples, matched: what training, evaluation and prediction start from.
class Task {
 public:
  enum class Labels { needed, not_needed };

  /// Loads the model and opens the data that the configuration names. Throws when they do not fit each other.
  explicit Task(const TrainingConfig& config, Labels labels = Labels::needed);
  /// The same with a model and samples that the caller has made.
  Task(const TrainingConfig& config, std::unique_ptr<graph::Graph> model, data::Splits splits,
       Labels labels = Labels::needed);
  /// The model alone, to look at what training would do: no samples are opened, and there are no loaders. Throws
  /// (usage) when only samples could tell the loss, or an extent of an input.
  static Task without_samples(const TrainingConfig& config);

  const graph::Graph& model() const { return *model_; }
  /// Losses, metrics, optimizer: whatever the configuration left open is chosen.
  const passes::TrainingSpec& spec() const { return spec_; }
  /// What each metric is called in histories and progress lines: "accuracy", "top_5", "accuracy_2" for a second one.
  const std::vector<std::string>& metric_names() const { return metric_names_; }
  const data::Splits& splits() const { return splits_; }
  const std::map<std::string, Dims>& sample_dims() const { return sample_dims_; }
  /// Extents of each model input, with the samples of one update over all replicas.
  std::map<std::string, Dims> batch_dims() const;
  /// For arrays whose samples do not come first: the number of blocks that each sample has a part of (see
  /// CompiledGraph::set_input), by name.
  const std::map<std::string, std::int64_t>& sample_blocks() const { return sample_blocks_; }

  /// Computed over the training set by `prepare_statistics`, or taken from a checkpoint. Where the graph is to prepare
  /// the samples, `spec()` says how from then on.
  const data::StatisticsByInput& statistics() const { return statistics_; }
  void prepare_statistics();
  /// A mean or deviation of the training set is asked for.
  bool needs_statistics() const;
  void set_statistics(data::StatisticsByInput statistics);

  /// The samples of one replica.
  std::unique_ptr<data::Loader> training_loader(const passes::Replication& replication = {}) const;
  std::unique_ptr<data::Loader> evaluation_loader(data::DatasetPointer samples,
                                                  const passes::Replication& replication = {}) const;

  /// What was chosen and why, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Task() = default;
  void match(Labels labels);
  void take_settings();
  void find_batch_axes();
  void choose_losses(Labels labels);
  void make_input_slots();
  void make_label_slots();
  void take_declared_dims();
  void prepare_on_device();
  std::vector<data::InputSlot> delivered_inputs() const;
  std::unique_ptr<data::Loader> loader(data::DatasetPointer samples, data::SampleReader::Mode mode,
                                       const data::LoaderOptions& options) const;

  TrainingConfig config_;
  std::unique_ptr<graph::Graph> model_;
  passes::TrainingSpec spec_;
  std::vector<std::string> metric_names_;
  data::Splits splits_;
  std::vector<data::InputSlot> inputs_;
  std::vector<data::LabelSlot> labels_;
  std::map<std::string, Dims> sample_dims_;
  std::map<std::string, std::int64_t> sample_blocks_;
  data::StatisticsByInput statistics_;
  std::vector<std::string> notes_;
};

}  // namespace ort_train::training
