#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"
#include "runtime/training/config.h"
#include "runtime/training/history.h"

namespace ort_train::training {

/// Where a run is: random numbers depend on seed, epoch, step and sample only, so this is the state of all of them too.
struct Position {
  std::int64_t epoch = 0;  ///< finished epochs
  std::int64_t step = 0;   ///< finished steps of the next one
  bool operator==(const Position&) const = default;
};

/// Everything that a run needs to go on as if it had never stopped.
struct Checkpoint {
  std::string model_digest;
  std::map<std::string, std::string> settings;  ///< see `settings_of`
  Position position;
  double seconds = 0;          ///< spent in the unfinished epoch
  double best = 0;             ///< lowest monitored loss so far; infinite before the first epoch
  std::vector<double> totals;  ///< sums of the unfinished epoch
  History history;
  std::map<std::string, Tensor> state;       ///< parameters, running statistics, optimizer slots
  std::map<std::string, Tensor> statistics;  ///< of preprocessing
};

/// One file, an .npz archive: the array `checkpoint` holds a text of format, version and position, the others are
/// numbers that NumPy reads as well. Written atomically.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// What to read when a run is resumed from `path`: the last checkpoint of a folder, or the file itself.
std::filesystem::path checkpoint_path(const std::filesystem::path& path);

/// Throws, naming the file, when it is no checkpoint, is damaged, or has a newer version.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// A number that differs between models: structure, names, and initial elements.
std::string digest_of(const graph::Graph& model);

/// The options on which the course of a run depends, as text.
std::map<std::string, std::string> settings_of(const TrainingConfig& config, const passes::TrainingSpec& spec,
                                               std::int64_t training_samples);

/// Throws when the checkpoint is of another model, or stops within an epoch whose order of samples would be another one
/// with the present settings. Returns a sentence for each other setting that has changed.
std::vector<std::string> check_resumable(const Checkpoint& checkpoint, const std::string& model_digest,
                                         const std::map<std::string, std::string>& settings,
                                         const std::filesystem::path& path);

}  // namespace ort_train::training
