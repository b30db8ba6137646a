#include "runtime/plot/raster_canvas.h"

#include <algorithm>
#include <cmath>

#include "runtime/plot/png_encoder.h"
#include "runtime/plot/stroke_font.h"

namespace ort_train::plot {

namespace {

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double along = length2 > 0.0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - (a.x + along * dx), p.y - (a.y + along * dy));
}

/// A part of the picture, upper left corner included and lower right excluded.
struct Box {
  int left, top, right, bottom;

  Box(Point a, Point b, double margin, int width, int height)
      : left(std::clamp(static_cast<int>(std::floor(std::min(a.x, b.x) - margin)), 0, width)),
        top(std::clamp(static_cast<int>(std::floor(std::min(a.y, b.y) - margin)), 0, height)),
        right(std::clamp(static_cast<int>(std::ceil(std::max(a.x, b.x) + margin)), 0, width)),
        bottom(std::clamp(static_cast<int>(std::ceil(std::max(a.y, b.y) + margin)), 0, height)) {}
};

}  // namespace

RasterCanvas::RasterCanvas(double width, double height, double scale)
    : width_(std::max(1, static_cast<int>(std::lround(width * scale)))),
      height_(std::max(1, static_cast<int>(std::lround(height * scale)))),
      scale_(scale),
      pixels_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3, 255) {}

void RasterCanvas::blend(int x, int y, float coverage, Color color) {
  std::uint8_t* pixel =
      pixels_.data() +
      (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3;
  const std::uint8_t parts[3] = {color.red, color.green, color.blue};
  for (int i = 0; i < 3; ++i) {
    const float under = pixel[i];
    pixel[i] = static_cast<std::uint8_t>(std::lround(under + coverage * (static_cast<float>(parts[i]) - under)));
  }
}

void RasterCanvas::rectangle(Point corner, double width, double height, Color color) {
  // Edges fall between pixels, and the thinnest rectangle is one pixel: grid lines stay sharp.
  const int left = static_cast<int>(std::lround(corner.x * scale_)),
            top = static_cast<int>(std::lround(corner.y * scale_));
  const int columns = std::max(1, static_cast<int>(std::lround(width * scale_)));
  const int rows = std::max(1, static_cast<int>(std::lround(height * scale_)));
  for (int y = std::max(top, 0); y < std::min(top + rows, height_); ++y) {
    for (int x = std::max(left, 0); x < std::min(left + columns, width_); ++x) blend(x, y, 1.0f, color);
  }
}

void RasterCanvas::disc(Point centre, double radius, Color color) {
  const std::vector<Point> dot{{centre.x * scale_, centre.y * scale_}, {centre.x * scale_, centre.y * scale_}};
  draw_strokes({dot}, 2.0 * radius * scale_, color);
}

void RasterCanvas::line(std::span<const Point> points, double width, Color color) {
  std::vector<Point> stroke;
  for (const Point& point : points) stroke.push_back({point.x * scale_, point.y * scale_});
  draw_strokes({stroke}, width * scale_, color);
}

void RasterCanvas::text(Point at, std::string_view words, double size, Align align, bool bold, Color color) {
  const double width = text_width(words, size);
  const double shift = align == Align::left ? 0.0 : align == Align::centre ? width / 2.0 : width;
  auto strokes = text_strokes({at.x - shift, at.y}, words, size);
  for (auto& stroke : strokes) {
    for (Point& point : stroke) point = {point.x * scale_, point.y * scale_};
  }
  draw_strokes(strokes, stroke_width(size, bold) * scale_, color);
}

void RasterCanvas::draw_strokes(const std::vector<std::vector<Point>>& strokes, double width, Color color) {
  const double reach = width / 2.0 + 0.5;
  Point low{1e9, 1e9}, high{-1e9, -1e9};
  for (const auto& stroke : strokes) {
    for (const Point& point : stroke) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  }
  if (low.x > high.x) return;
  const Box whole(low, high, reach, width_, height_);
  const int columns = whole.right - whole.left, rows = whole.bottom - whole.top;
  if (columns <= 0 || rows <= 0) return;
  std::vector<float> coverage(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0.0f);
  const auto at = [&](int x, int y) -> float& {
    return coverage[static_cast<std::size_t>(y - whole.top) * static_cast<std::size_t>(columns) +
                    static_cast<std::size_t>(x - whole.left)];
  };
  for (const auto& stroke : strokes) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Box box(stroke[i - 1], stroke[i], reach, width_, height_);
      for (int y = box.top; y < box.bottom; ++y) {
        for (int x = box.left; x < box.right; ++x) {
          const double distance = distance_to_segment({x + 0.5, y + 0.5}, stroke[i - 1], stroke[i]);
          at(x, y) = std::max(at(x, y), static_cast<float>(std::clamp(reach - distance, 0.0, 1.0)));
        }
      }
    }
  }
  for (int y = whole.top; y < whole.bottom; ++y) {
    for (int x = whole.left; x < whole.right; ++x) {
      if (at(x, y) > 0.0f) blend(x, y, at(x, y), color);
    }
  }
}

std::string RasterCanvas::to_png() const { return encode_png(pixels_, width_, height_); }

}  // namespace ort_train::plot
