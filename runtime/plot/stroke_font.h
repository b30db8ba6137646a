#pragma once

#include <string_view>
#include <vector>

#include "runtime/plot/canvas.h"

namespace ort_train::plot {

/// A font made of strokes, drawn for this project. It covers the printable characters of ASCII; any other character of
/// a UTF-8 text shows as a question mark.

/// The width of a line of text. `size` is the font size: about 1.4 times the height of a capital.
double text_width(std::string_view words, double size);

/// The strokes of a line of text that begins at `origin` on the baseline. Draw them with `stroke_width(size, bold)`.
std::vector<std::vector<Point>> text_strokes(Point origin, std::string_view words, double size);

double stroke_width(double size, bool bold);

}  // namespace ort_train::plot
