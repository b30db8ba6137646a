#include "runtime/training/metrics.h"

#include <algorithm>

#include "base/error.h"

namespace ort_train::training {

Totals::Totals(const passes::TrainingSpec& spec) {
  for (std::size_t i = 0; i < spec.losses.size(); ++i) {
    weights_.push_back(spec.losses[i].weight);
    outputs_.push_back(passes::loss_sum_output(i));
    outputs_.push_back(passes::loss_count_output(i));
  }
  for (std::size_t i = 0; i < spec.metrics.size(); ++i) {
    outputs_.push_back(passes::metric_sum_output(i));
    outputs_.push_back(passes::metric_count_output(i));
  }
  clear();
}

void Totals::add(const runtime::Executable& executable) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) values_[i] += executable.output(outputs_[i]).to_doubles().at(0);
}

void Totals::clear() { values_.assign(outputs_.size(), 0.0); }

double Totals::loss() const {
  double total = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) total += weights_[i] * mean(i);
  return total;
}

std::vector<double> Totals::metrics() const {
  std::vector<double> result;
  for (std::size_t term = weights_.size(); 2 * term < values_.size(); ++term) result.push_back(mean(term));
  return result;
}

void Totals::restore(const std::vector<double>& values) {
  if (values.size() != values_.size()) {
    fail("the checkpoint has ", values.size(), " sums of losses and metrics, but the run has ", values_.size(),
         "; resume with the same losses and metrics");
  }
  values_ = values;
}

std::vector<std::string> metric_names(const passes::TrainingSpec& spec) {
  std::vector<std::string> names;
  for (const passes::MetricSpec& metric : spec.metrics) {
    const std::string name = metric.type == "top_k" ? text("top_", metric.k) : metric.type;
    const auto taken = [&](const std::string& candidate) {
      return std::find(names.begin(), names.end(), candidate) != names.end();
    };
    std::string unique = name;
    for (int number = 2; taken(unique); ++number) unique = text(name, "_", number);
    names.push_back(unique);
  }
  return names;
}

}  // namespace ort_train::training
