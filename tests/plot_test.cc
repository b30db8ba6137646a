#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "runtime/data/image_decoder.h"
#include "runtime/plot/axis.h"
#include "runtime/plot/figure.h"
#include "runtime/plot/raster_canvas.h"
#include "runtime/plot/stroke_font.h"
#include "runtime/plot/svg_canvas.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::plot;
using namespace ort_train::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Color black{0, 0, 0}, red{255, 0, 0};

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Axis::Tick& tick : axis.ticks) labels.push_back(tick.label);
  return labels;
}

std::size_t offset_of(const RasterCanvas& canvas, int x, int y) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width()) + static_cast<std::size_t>(x)) * 3;
}

/// Red of the pixel: 255 on white and red, 0 on black.
int red_at(const RasterCanvas& canvas, int x, int y) { return canvas.pixels()[offset_of(canvas, x, y)]; }
int green_at(const RasterCanvas& canvas, int x, int y) { return canvas.pixels()[offset_of(canvas, x, y) + 1]; }

Figure figure_of(const std::vector<double>& x, const std::vector<double>& y) {
  return {"Run <1> & more", {{"loss", "epoch", {{"training", x, y}}}}, 400, 300};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("axes have round ticks within their range") {
  using Labels = std::vector<std::string>;
  CHECK(labels_of(make_axis(0, 1, 0, 6, false)) == Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels_of(make_axis(1, 3, 0, 8, true)) == Labels{"1", "2", "3"});
  CHECK(labels_of(make_axis(1, 70, 0.03, 8, true)) == Labels{"0", "10", "20", "30", "40", "50", "60", "70"});
  CHECK(labels_of(make_axis(-0.3, 0.3, 0, 7, false)) == Labels{"-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2", "0.3"});
  CHECK(labels_of(make_axis(0, 4e8, 0, 5, false)) == Labels{"0", "1e+08", "2e+08", "3e+08", "4e+08"});
  CHECK(labels_of(make_axis(0, 3e-5, 0, 4, false)) == Labels{"0", "1e-05", "2e-05", "3e-05"});
  for (const double high : {1e-9, 0.7, 3.0, 17.3, 12345.0, 1e12}) {
    const Axis axis = make_axis(0, high, 0.05, 8, false);
    CHECK(axis.ticks.size() >= 3);
    CHECK(axis.ticks.size() <= 9);
    for (const Axis::Tick& tick : axis.ticks) {
      CHECK(axis.position(tick.value) > -1e-6);
      CHECK(axis.position(tick.value) < 1 + 1e-6);
    }
  }
}

TEST_CASE("an axis of a single number has room around it") {
  for (const double value : {0.0, 5.0, -1e-8}) {
    const Axis axis = make_axis(value, value, 0.05, 8, false);
    CHECK(axis.low < value);
    CHECK(axis.high > value);
    CHECK(axis.position(value) == doctest::Approx(0.5));
    CHECK_FALSE(axis.ticks.empty());
  }
  CHECK(labels_of(make_axis(1, 1, 0.03, 8, true)) == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("every printable character has a shape of its own within its width") {
  std::vector<std::vector<std::vector<Point>>> shapes;
  for (char letter = '!'; letter <= '~'; ++letter) {
    const std::string word(1, letter);
    const auto strokes = text_strokes({0, 0}, word, 20.0);
    CHECK_FALSE(strokes.empty());
    for (const auto& stroke : strokes) {
      CHECK(stroke.size() >= 2);
      for (const Point& point : stroke) {
        CHECK(point.x > -1.0);
        CHECK(point.x < text_width(word, 20.0) + 1.0);
        CHECK(point.y < 5.0);
        CHECK(point.y > -17.0);
      }
    }
    const bool seen = std::any_of(shapes.begin(), shapes.end(), [&](const auto& other) {
      return std::equal(other.begin(), other.end(), strokes.begin(), strokes.end(), [](const auto& a, const auto& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](Point p, Point q) { return std::hypot(p.x - q.x, p.y - q.y) < 1e-6; });
      });
    });
    CHECK_MESSAGE(!seen, letter);
    shapes.push_back(strokes);
  }
  CHECK(text_strokes({0, 0}, " ", 20.0).empty());
  CHECK(text_width("", 20.0) == 0.0);
  CHECK(text_width("mm", 20.0) > 2 * text_width("m", 20.0));
  CHECK(text_width("\xc3\xa9", 20.0) == text_width("?", 20.0));
}

TEST_CASE("lines cover the pixels they cross and smooth their edges") {
  RasterCanvas canvas(20, 10, 2.0);
  CHECK(canvas.width() == 40);
  CHECK(canvas.height() == 20);
  const std::vector<Point> points{{2, 5}, {18, 5}};
  canvas.line(points, 2.0, black);
  CHECK(red_at(canvas, 20, 9) == 0);
  CHECK(red_at(canvas, 20, 10) == 0);
  CHECK(red_at(canvas, 20, 5) == 255);
  CHECK(red_at(canvas, 0, 10) == 255);
  const std::vector<Point> slope{{2, 1}, {18, 9}};
  RasterCanvas other(20, 10, 2.0);
  other.line(slope, 1.0, black);
  CHECK(std::any_of(other.pixels().begin(), other.pixels().end(), [](int value) { return value > 20 && value < 235; }));
}

TEST_CASE("rectangles are sharp and shapes beyond the edge are cut off") {
  RasterCanvas canvas(10, 10, 1.0);
  canvas.rectangle({2, 3}, 4, 0.2, black);
  CHECK(red_at(canvas, 2, 3) == 0);
  CHECK(red_at(canvas, 5, 3) == 0);
  CHECK(red_at(canvas, 6, 3) == 255);
  CHECK(red_at(canvas, 2, 2) == 255);
  canvas.rectangle({-5, -5}, 100, 7, red);
  canvas.disc({100, 100}, 5, black);
  canvas.disc({0, 10}, 3, black);
  const std::vector<Point> far{{-50, 8}, {50, 8}};
  canvas.line(far, 1.0, black);
  CHECK(green_at(canvas, 9, 1) == 0);
  CHECK(green_at(canvas, 9, 2) == 255);
  CHECK(red_at(canvas, 0, 9) == 0);
}

TEST_CASE("a PNG figure shows the curve at its place") {
  const std::string png = to_png(figure_of({0, 10}, {2, 2.0001}), 1.0);
  const data::Image image = data::decode_image(png, 3, "figure");
  CHECK(image.width == 400);
  CHECK(image.height == 338);
  // The rising curve is blue; everything else is grey, but for its sample in the legend.
  std::vector<std::int64_t> columns;
  for (std::int64_t y = 90; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::uint8_t* pixel = &image.pixels[static_cast<std::size_t>((y * image.width + x) * 3)];
      if (pixel[2] > pixel[0] + 100) columns.push_back(x);
    }
  }
  REQUIRE_FALSE(columns.empty());
  const auto [first, last] = std::minmax_element(columns.begin(), columns.end());
  CHECK(*first < 80);
  CHECK(*first > 60);
  CHECK(*last > 360);
  CHECK(*last < 380);
}

TEST_CASE("an SVG figure holds its words as text, and its curves as lines") {
  const std::string svg = to_svg(figure_of({1, 2, 3}, {3, 2, 1}));
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, ">Run &lt;1&gt; &amp; more</text>"));
  CHECK(contains(svg, ">training</text>"));
  CHECK(contains(svg, ">epoch</text>"));
  CHECK(count(svg, "<polyline") == 2);  // the curve, and its sample in the legend
  CHECK(count(svg, "<circle") == 3);
}

TEST_CASE("numbers that are not finite interrupt a curve") {
  const std::string svg = to_svg(figure_of({1, 2, 3, 4, 5, 6}, {1, 2, not_a_number, 3, INFINITY, 1}));
  CHECK(count(svg, "<polyline") == 2);
  CHECK(count(svg, "<circle") == 4);
  CHECK_FALSE(contains(svg, "nan"));
  CHECK_FALSE(contains(svg, "inf"));
  CHECK_FALSE(contains(to_svg(figure_of({1, 2}, {not_a_number, not_a_number})), "nan"));
  CHECK_FALSE(to_png(figure_of({}, {})).empty());
}

TEST_CASE("a long legend takes more rows and leaves the curves free") {
  Figure figure;
  Panel panel{"loss", "epoch", {}};
  for (int i = 0; i < 9; ++i) panel.series.push_back({text("a rather long name ", i), {0, 1}, {0, 1.0 * i}});
  figure.panels = {panel};
  const std::string svg = to_svg(figure);
  for (int i = 0; i < 9; ++i) CHECK(contains(svg, text(">a rather long name ", i, "</text>")));
  CHECK(count(svg, "<polyline") == 18);
}

TEST_CASE("figures are written by the ending of their name") {
  const TemporaryFolder folder;
  write_figure(folder / "curves.png", figure_of({1, 2}, {1, 2}));
  write_figure(folder / "curves.svg", figure_of({1, 2}, {1, 2}));
  CHECK(read_file(folder / "curves.png").starts_with("\x89PNG"));
  CHECK(read_file(folder / "curves.svg").starts_with("<svg"));
}

TEST_CASE("curves whose numbers do not pair up give a sentence") {
  CHECK_ERROR(to_png(figure_of({1, 2}, {1})), "the curve 'training' has 2 x and 1 y values");
  CHECK_ERROR(to_svg(Figure{}), "needs at least one panel");
}
