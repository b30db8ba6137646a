#pragma once

#include <string>
#include <vector>

#include "passes/training_graph.h"
#include "runtime/executable.h"

namespace ort_train::training {

/// The mean loss and metrics over any number of batches, exact: sums and counts are added in float64 and divided once,
/// so an uneven last batch or ignored labels weigh what they should.
class Totals {
 public:
  explicit Totals(const passes::TrainingSpec& spec);

  /// Adds what the last run of a training or evaluation graph found.
  void add(const runtime::Executable& executable);
  void clear();

  /// Weighted sum of the mean of each loss; NaN before anything was counted.
  double loss() const;
  /// In the order of the specification.
  std::vector<double> metrics() const;

  /// All sums and counts, to keep and to go on from.
  const std::vector<double>& values() const { return values_; }
  /// Throws when the number of values is another one.
  void restore(const std::vector<double>& values);

 private:
  double mean(std::size_t term) const { return values_[2 * term] / values_[2 * term + 1]; }

  std::vector<double> weights_;  ///< of the losses
  std::vector<std::string> outputs_;
  std::vector<double> values_;  ///< sum and count of each loss, then of each metric
};

/// A name for each metric, all different.
std::vector<std::string> metric_names(const passes::TrainingSpec& spec);

}  // namespace ort_train::training
