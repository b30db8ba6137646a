#include "runtime/training/curves.h"

#include "runtime/plot/figure.h"

namespace ort_train::training {
namespace {

/// The figures of one kind, and those of validation where there are any.
plot::Panel panel(const History& history, const std::string& column, const std::string& title) {
  const std::vector<double> epochs = history.column("epoch");
  plot::Panel result{title, "epoch", {{"training", epochs, history.column(column)}}};
  if (history.has("val_" + column)) result.series.push_back({"validation", epochs, history.column("val_" + column)});
  return result;
}

}  // namespace

void write_curves(const std::filesystem::path& path, const History& history) {
  plot::Figure figure;
  figure.panels.push_back(panel(history, "loss", "loss"));
  // The first metric stands behind epoch, seconds, learning_rate and loss.
  constexpr std::size_t first_metric = 4;
  const std::vector<std::string>& columns = history.columns();
  const bool has_metric = columns.size() > first_metric && columns[first_metric] != "val_loss";
  if (has_metric) figure.panels.push_back(panel(history, columns[first_metric], columns[first_metric]));
  plot::write_figure(path, figure);
}

}  // namespace ort_train::training
