#include "runtime/plot/figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "runtime/plot/axis.h"
#include "runtime/plot/canvas.h"
#include "runtime/plot/raster_canvas.h"
#include "runtime/plot/stroke_font.h"
#include "runtime/plot/svg_canvas.h"

namespace ort_train::plot {

namespace {

// Colours that people with any kind of colour vision can tell apart, after M. Okabe and K. Ito, "Color universal
// design".
constexpr Color palette[] = {{0, 114, 178},  {230, 120, 0},  {0, 158, 115},  {204, 80, 150},
                             {86, 180, 233}, {150, 100, 30}, {120, 94, 210}, {90, 90, 90}};
constexpr Color ink{45, 45, 45};
constexpr Color faint_ink{95, 95, 95};
constexpr Color grid{228, 228, 228};
constexpr Color frame{150, 150, 150};

constexpr double title_size = 17.0;
constexpr double panel_title_size = 14.0;
constexpr double label_size = 11.5;

constexpr std::size_t most_panels_in_a_row = 3;
constexpr std::size_t most_points_with_dots = 40;

/// The space around the curves of a panel.
struct Margins {
  double left = 62.0, right = 20.0, top = 44.0, bottom = 50.0;
};

struct Rectangle {
  double left, top, width, height;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

void check(const Figure& figure) {
  if (figure.panels.empty()) fail("a figure needs at least one panel");
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (series.x.size() != series.y.size()) {
        fail("the curve '", series.name, "' has ", series.x.size(), " x and ", series.y.size(), " y values");
      }
    }
  }
}

bool is_drawable(const Series& series, std::size_t i) {
  return std::isfinite(series.x[i]) && std::isfinite(series.y[i]);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool whole = true;  ///< only whole numbers

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    whole = whole && value == std::floor(value);
  }
  bool empty() const { return low > high; }
};

/// The axes of a panel, across and up.
struct Axes {
  Axis x, y;
  Rectangle area;

  Point place(double x_value, double y_value) const {
    return {area.left + x.position(x_value) * area.width, area.bottom() - y.position(y_value) * area.height};
  }
};

Axes make_axes(const Panel& panel, const Rectangle& area) {
  Range x, y;
  for (const Series& series : panel.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!is_drawable(series, i)) continue;
      x.add(series.x[i]);
      y.add(series.y[i]);
    }
  }
  if (x.empty()) return {make_axis(0, 1, 0, 8, true), make_axis(0, 1, 0, 6, false), area};
  return {make_axis(x.low, x.high, 0.03, 8, x.whole), make_axis(y.low, y.high, 0.06, 9, false), area};
}

void draw_axes(Canvas& canvas, const Axes& axes, const std::string& x_label) {
  const Rectangle& area = axes.area;
  for (const Axis::Tick& tick : axes.y.ticks) {
    const double y = axes.place(axes.x.low, tick.value).y;
    canvas.rectangle({area.left, y}, area.width, 0.6, grid);
    canvas.text({area.left - 8.0, y + label_size * 0.35}, tick.label, label_size, Align::right, false, faint_ink);
  }
  for (const Axis::Tick& tick : axes.x.ticks) {
    const double x = axes.place(tick.value, axes.y.low).x;
    canvas.rectangle({x, area.top}, 0.6, area.height, grid);
    canvas.rectangle({x, area.bottom()}, 0.6, 4.0, frame);
    canvas.text({x, area.bottom() + 17.0}, tick.label, label_size, Align::centre, false, faint_ink);
  }
  canvas.rectangle({area.left, area.bottom()}, area.width, 0.6, frame);
  canvas.rectangle({area.left, area.top}, 0.6, area.height, frame);
  canvas.text({area.left + area.width / 2.0, area.bottom() + 36.0}, x_label, label_size, Align::centre, false, ink);
}

void draw_series(Canvas& canvas, const Axes& axes, const Series& series, Color color) {
  std::vector<Point> piece;
  const bool dots = series.x.size() <= most_points_with_dots;
  const auto end_piece = [&] {
    if (piece.size() > 1) canvas.line(piece, 1.9, color);
    // A point on its own makes no line, but must be seen.
    if (dots || piece.size() == 1) {
      for (const Point& point : piece) canvas.disc(point, 2.5, color);
    }
    piece.clear();
  };
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (is_drawable(series, i)) {
      piece.push_back(axes.place(series.x[i], series.y[i]));
    } else {
      end_piece();
    }
  }
  end_piece();
}

Color color_of(std::size_t series) { return palette[series % std::size(palette)]; }

constexpr double legend_row_height = 18.0;
constexpr double legend_sample_width = 20.0, legend_sample_gap = 7.0, legend_entry_gap = 18.0;

double legend_entry_width(const Series& series) {
  return legend_sample_width + legend_sample_gap + text_width(series.name, label_size);
}

/// The series of each row of the legend. The first row shares its line with the title of the panel.
std::vector<std::vector<std::size_t>> legend_rows(const Panel& panel, double width) {
  std::vector<std::vector<std::size_t>> rows(1);
  double left = width - text_width(panel.title, panel_title_size);
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const double needed = legend_entry_width(panel.series[i]) + legend_entry_gap;
    if (needed > left && (rows.size() == 1 || !rows.back().empty())) {
      rows.emplace_back();
      left = width;
    }
    rows.back().push_back(i);
    left -= needed;
  }
  return rows;
}

/// Every row is set from right to left, so that it ends where the axis ends.
void draw_legend(Canvas& canvas, const Panel& panel, const std::vector<std::vector<std::size_t>>& rows,
                 double right_end, double first_baseline) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double baseline = first_baseline + static_cast<double>(row) * legend_row_height;
    double right = right_end;
    for (auto entry = rows[row].rbegin(); entry != rows[row].rend(); ++entry) {
      const Series& series = panel.series[*entry];
      canvas.text({right, baseline}, series.name, label_size, Align::right, false, ink);
      right -= legend_entry_width(series);
      const std::vector<Point> sample{{right, baseline - 4.0}, {right + legend_sample_width, baseline - 4.0}};
      canvas.line(sample, 2.4, color_of(*entry));
      right -= legend_entry_gap;
    }
  }
}

void draw_panel(Canvas& canvas, const Panel& panel, const Rectangle& place) {
  const Margins margins;
  const double width = place.width - margins.left - margins.right;
  const auto legend = legend_rows(panel, width);
  const double top = margins.top + static_cast<double>(legend.size() - 1) * legend_row_height;
  const Rectangle area{place.left + margins.left, place.top + top, width, place.height - top - margins.bottom};
  const double title_baseline = place.top + margins.top - 14.0;
  const Axes axes = make_axes(panel, area);
  canvas.text({area.left, title_baseline}, panel.title, panel_title_size, Align::left, true, ink);
  draw_legend(canvas, panel, legend, area.right(), title_baseline);
  draw_axes(canvas, axes, panel.x_label);
  for (std::size_t i = 0; i < panel.series.size(); ++i) draw_series(canvas, axes, panel.series[i], color_of(i));
}

std::size_t columns_of(const Figure& figure) {
  const std::size_t count = figure.panels.size();
  if (count <= most_panels_in_a_row) return count;
  return count == 4 ? 2 : most_panels_in_a_row;
}

double title_height(const Figure& figure) { return figure.title.empty() ? 0.0 : 38.0; }
double width_of(const Figure& figure) { return static_cast<double>(columns_of(figure)) * figure.panel_width; }

double height_of(const Figure& figure) {
  const std::size_t columns = columns_of(figure), rows = (figure.panels.size() + columns - 1) / columns;
  return title_height(figure) + static_cast<double>(rows) * figure.panel_height;
}

void draw(Canvas& canvas, const Figure& figure) {
  if (!figure.title.empty()) {
    canvas.text({width_of(figure) / 2.0, 30.0}, figure.title, title_size, Align::centre, true, ink);
  }
  const std::size_t columns = columns_of(figure);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    draw_panel(canvas, figure.panels[i],
               {static_cast<double>(i % columns) * figure.panel_width,
                title_height(figure) + static_cast<double>(i / columns) * figure.panel_height, figure.panel_width,
                figure.panel_height});
  }
}

}  // namespace

std::string to_png(const Figure& figure, double scale) {
  check(figure);
  RasterCanvas canvas(width_of(figure), height_of(figure), scale);
  draw(canvas, figure);
  return canvas.to_png();
}

std::string to_svg(const Figure& figure) {
  check(figure);
  SvgCanvas canvas(width_of(figure), height_of(figure));
  draw(canvas, figure);
  return canvas.to_svg();
}

void write_figure(const std::filesystem::path& path, const Figure& figure) {
  write_file_atomically(path, path.extension() == ".svg" ? to_svg(figure) : to_png(figure));
}

}  // namespace ort_train::plot
