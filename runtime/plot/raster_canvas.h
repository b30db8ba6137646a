#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plot/canvas.h"

namespace ort_train::plot {

/// Draws on a grid of pixels with smooth edges: a pixel is covered as far as its centre is from the edge of a shape.
class RasterCanvas final : public Canvas {
 public:
  /// `scale` pixels to a point; the background is white.
  RasterCanvas(double width, double height, double scale);

  void rectangle(Point corner, double width, double height, Color color) override;
  void disc(Point centre, double radius, Color color) override;
  void line(std::span<const Point> points, double width, Color color) override;
  void text(Point at, std::string_view words, double size, Align align, bool bold, Color color) override;

  int width() const { return width_; }
  int height() const { return height_; }

  /// Red, green and blue of every pixel, row by row.
  const std::vector<std::uint8_t>& pixels() const { return pixels_; }

  /// The picture as a PNG file.
  std::string to_png() const;

 private:
  /// Draws several lines as one shape, so that they do not darken each other where they meet. In pixels.
  void draw_strokes(const std::vector<std::vector<Point>>& strokes, double width, Color color);
  void blend(int x, int y, float coverage, Color color);

  int width_, height_;
  double scale_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace ort_train::plot
