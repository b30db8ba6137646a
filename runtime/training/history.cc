#include "runtime/training/history.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace ort_train::training {

History::History(const std::vector<std::string>& metric_names, bool has_validation)
    : columns_{"epoch", "seconds", "learning_rate", "loss"} {
  columns_.insert(columns_.end(), metric_names.begin(), metric_names.end());
  if (!has_validation) return;
  columns_.push_back("val_loss");
  for (const std::string& name : metric_names) columns_.push_back("val_" + name);
}

History::History(std::vector<std::string> columns, std::vector<std::vector<double>> rows)
    : columns_(std::move(columns)) {
  for (auto& row : rows) add(std::move(row));
}

std::size_t History::index_of(const std::string& column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) fail("the history has no column '", column, "'");
  return static_cast<std::size_t>(found - columns_.begin());
}

bool History::has(const std::string& column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::vector<double> History::column(const std::string& name) const {
  const std::size_t index = index_of(name);
  std::vector<double> result;
  for (const auto& row : rows_) result.push_back(row[index]);
  return result;
}

double History::last(const std::string& column) const {
  if (rows_.empty()) fail("the history has no epoch yet");
  return rows_.back()[index_of(column)];
}

void History::add(std::vector<double> row) {
  if (row.size() != columns_.size()) {
    fail("a row of ", row.size(), " figures does not fit a history of ", columns_.size(), " columns");
  }
  rows_.push_back(std::move(row));
}

std::string History::to_csv() const {
  std::string result;
  for (std::size_t i = 0; i < columns_.size(); ++i) result += (i == 0 ? "" : ",") + columns_[i];
  result += "\n";
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      char digits[32];
      const auto end = std::to_chars(digits, digits + sizeof digits, row[i]).ptr;
      result += (i == 0 ? "" : ",") + std::string(digits, end);
    }
    result += "\n";
  }
  return result;
}

}  // namespace ort_train::training
