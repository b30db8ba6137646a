#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ort_train::training {

/// The figures of every finished epoch, one row each.
class History {
 public:
  History() = default;
  /// Columns: epoch, seconds, learning_rate, loss, the metrics, and with validation val_loss and val_<metric>.
  History(const std::vector<std::string>& metric_names, bool has_validation);
  History(std::vector<std::string> columns, std::vector<std::vector<double>> rows);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<double>>& rows() const { return rows_; }
  bool has(const std::string& column) const;
  /// Throws when there is no such column.
  std::vector<double> column(const std::string& name) const;
  /// The value in the last row.
  double last(const std::string& column) const;

  void add(std::vector<double> row);

  /// A header line, then a line per epoch; numbers with enough digits to be read back exactly.
  std::string to_csv() const;

 private:
  std::size_t index_of(const std::string& column) const;

  std::vector<std::string> columns_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace ort_train::training
