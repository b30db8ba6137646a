#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ort_train::plot {

/// A curve through (x[i], y[i]). Where a y is not finite the curve is interrupted.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

/// A diagram with axes. Its legend stands beside its title, above the curves.
struct Panel {
  std::string title;
  std::string x_label;
  std::vector<Series> series;
};

/// Diagrams side by side, at most three in a row. Series of equal position have equal colours in all panels.
struct Figure {
  std::string title;
  std::vector<Panel> panels;
  double panel_width = 480.0;  ///< in points, titles and axes included
  double panel_height = 340.0;
};

/// The figure as the bytes of a file. In a PNG there are `scale` pixels to a point.
std::string to_png(const Figure& figure, double scale = 1.75);
std::string to_svg(const Figure& figure);

/// Writes the file atomically, as SVG when the path ends so and as PNG otherwise.
void write_figure(const std::filesystem::path& path, const Figure& figure);

}  // namespace ort_train::plot
