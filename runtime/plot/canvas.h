#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ort_train::plot {

/// Lengths are in points of the figure, from its upper left corner to the right and down.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
};

enum class Align { left, centre, right };

/// What a figure is drawn on.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void rectangle(Point corner, double width, double height, Color color) = 0;
  virtual void disc(Point centre, double radius, Color color) = 0;
  /// A line through all points, with round ends and corners.
  virtual void line(std::span<const Point> points, double width, Color color) = 0;
  /// One line of text. `at` is on the baseline, at the left end, the middle or the right end.
  virtual void text(Point at, std::string_view words, double size, Align align, bool bold, Color color) = 0;
};

}  // namespace ort_train::plot
