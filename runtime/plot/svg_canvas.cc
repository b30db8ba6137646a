#include "runtime/plot/svg_canvas.h"

#include <cmath>
#include <cstdio>

namespace ort_train::plot {

namespace {

std::string hex(Color color) {
  char digits[8];
  std::snprintf(digits, sizeof digits, "#%02x%02x%02x", color.red, color.green, color.blue);
  return digits;
}

/// A hundredth of a point is finer than any screen.
double rounded(double value) { return std::round(value * 100.0) / 100.0; }

std::string escaped(std::string_view words) {
  std::string out;
  for (const char letter : words) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(letter) >= 0x20) out += letter;
    }
  }
  return out;
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height) {
  out_.imbue(std::locale::classic());
  out_ << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << width << R"(" height=")" << height
       << R"(" viewBox="0 0 )" << width << ' ' << height << R"(" font-family="Helvetica, Arial, sans-serif">)" << '\n';
  rectangle({0, 0}, width, height, {255, 255, 255});
}

void SvgCanvas::rectangle(Point corner, double width, double height, Color color) {
  out_ << R"(<rect x=")" << rounded(corner.x) << R"(" y=")" << rounded(corner.y) << R"(" width=")" << rounded(width)
       << R"(" height=")" << rounded(height) << R"(" fill=")" << hex(color) << "\"/>\n";
}

void SvgCanvas::disc(Point centre, double radius, Color color) {
  out_ << R"(<circle cx=")" << rounded(centre.x) << R"(" cy=")" << rounded(centre.y) << R"(" r=")" << rounded(radius)
       << R"(" fill=")" << hex(color) << "\"/>\n";
}

void SvgCanvas::line(std::span<const Point> points, double width, Color color) {
  out_ << R"(<polyline fill="none" stroke-linejoin="round" stroke-linecap="round" stroke=")" << hex(color)
       << R"(" stroke-width=")" << rounded(width) << R"(" points=")";
  for (std::size_t i = 0; i < points.size(); ++i) {
    out_ << (i == 0 ? "" : " ") << rounded(points[i].x) << ',' << rounded(points[i].y);
  }
  out_ << "\"/>\n";
}

void SvgCanvas::text(Point at, std::string_view words, double size, Align align, bool bold, Color color) {
  out_ << R"(<text x=")" << rounded(at.x) << R"(" y=")" << rounded(at.y) << R"(" font-size=")" << rounded(size)
       << R"(" text-anchor=")"
       << (align == Align::left     ? "start"
           : align == Align::centre ? "middle"
                                    : "end")
       << '"' << (bold ? R"( font-weight="bold")" : "") << R"( fill=")" << hex(color) << "\">" << escaped(words)
       << "</text>\n";
}

}  // namespace ort_train::plot
