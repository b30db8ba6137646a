#pragma once

#include <sstream>
#include <string>

#include "runtime/plot/canvas.h"

namespace ort_train::plot {

/// Writes the figure as SVG 1.1; text stays text.
class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height);

  void rectangle(Point corner, double width, double height, Color color) override;
  void disc(Point centre, double radius, Color color) override;
  void line(std::span<const Point> points, double width, Color color) override;
  void text(Point at, std::string_view words, double size, Align align, bool bold, Color color) override;

  std::string to_svg() const { return out_.str() + "</svg>\n"; }

 private:
  std::ostringstream out_;
};

}  // namespace ort_train::plot
