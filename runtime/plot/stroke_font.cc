#include "runtime/plot/stroke_font.h"

#include <charconv>
#include <cmath>
#include <numbers>

namespace ort_train::plot {

namespace {

// A capital is 14 units high, a small letter 10; descenders reach to -4. A glyph is its width and a path:
//   M x y              start a stroke
//   L x y              a straight line to (x, y)
//   E x y rx ry a b    an arc of the ellipse around (x, y) from the angle a to b in degrees, counterclockwise when b >
//   a;
//                      joined to the stroke by a line, if there is one
//   B                  end the stroke, so that an arc can start one
constexpr double units_per_size = 20.0;
constexpr double gap_between_glyphs = 3.4;

constexpr char first_glyph = ' ';
constexpr char last_glyph = '~';

constexpr std::string_view glyphs[] = {
    "3",                                                                                             // space
    "0 M 0 14 L 0 4.5 M 0 .2 L 0 0",                                                                 // !
    "3 M 0 14 L 0 10 M 3 14 L 3 10",                                                                 // "
    "10.5 M 3 0 L 4.5 14 M 6.5 0 L 8 14 M .5 4.5 L 10 4.5 M 1 9.5 L 10.5 9.5",                       // #
    "9 E 4.5 10.5 4 3.5 30 270 E 4.5 3.5 4.5 3.5 90 -150 M 4.5 16 L 4.5 -2",                         // $
    "14 E 2.8 10.8 2.8 3.2 0 360 M 11.5 14 L 2.5 0 B E 11.2 3.2 2.8 3.2 0 360",                      // %
    "11 M 11 0 L 2.6 9.9 E 4.7 11.4 2.6 2.6 215 -40 L 1.2 6.3 E 4 3.7 4 3.7 135 360 L 10.5 7",       // &
    "0 M 0 14 L 0 10",                                                                               // '
    "3 E 6 5.5 6 9.5 125 235",                                                                       // (
    "3 E -3 5.5 6 9.5 55 -55",                                                                       // )
    "6 M 3 14 L 3 8 M .4 12.5 L 5.6 9.5 M .4 9.5 L 5.6 12.5",                                        // *
    "9 M 4.5 2 L 4.5 11 M 0 6.5 L 9 6.5",                                                            // +
    "1 M .6 .3 L .6 0 L -.4 -2.6",                                                                   // ,
    "5 M 0 5.5 L 5 5.5",                                                                             // -
    "0 M 0 .2 L 0 0",                                                                                // .
    "6 M 0 -2 L 6 15",                                                                               // /
    "9 E 4.5 7 4.5 7 0 360",                                                                         // 0
    "9 M 1.5 11 L 5 14 L 5 0",                                                                       // 1
    "9 E 4.5 9.9 4.3 4.1 165 -35 L 0 0 L 9 0",                                                       // 2
    "9 E 4.4 10.45 3.8 3.55 150 -90 E 4.4 3.5 4.4 3.4 90 -155",                                      // 3
    "9 M 6.8 0 L 6.8 14 L 0 4 L 9 4",                                                                // 4
    "9 M 8 14 L 1.5 14 L 1 7.4 E 4.4 4.5 4.4 4.5 140 -150",                                          // 5
    "9 E 4.5 4.4 4.5 4.4 0 360 B E 7.5 4.4 7.5 9.6 180 95",                                          // 6
    "9 M 0 14 L 9 14 L 3.2 0",                                                                       // 7
    "9 E 4.5 10.6 3.7 3.4 0 360 B E 4.5 3.6 4.5 3.6 0 360",                                          // 8
    "9 E 4.5 9.6 4.5 4.4 0 360 B E 1.5 9.6 7.5 9.6 0 -85",                                           // 9
    "0 M 0 .2 L 0 0 M 0 8.2 L 0 8",                                                                  // :
    "1 M .6 .3 L .6 0 L -.4 -2.6 M .6 8.2 L .6 8",                                                   // ;
    "8 M 8 11 L 0 6.5 L 8 2",                                                                        // <
    "9 M 0 8.5 L 9 8.5 M 0 4.5 L 9 4.5",                                                             // =
    "8 M 0 11 L 8 6.5 L 0 2",                                                                        // >
    "7.5 E 3.75 10.3 3.75 3.7 160 -60 L 3.75 5 L 3.75 4.2 M 3.75 .2 L 3.75 0",                       // ?
    "14 E 7 6 3.2 3.6 0 360 M 10.2 9.6 L 10.2 4.5 E 12.1 4.5 1.9 2 180 360 E 7 5.5 7 8 0 300",       // @
    "10 M 0 0 L 5 14 L 10 0 M 1.8 5 L 8.2 5",                                                        // A
    "9 M 0 0 L 0 14 L 5 14 E 5 10.75 3.5 3.25 90 -90 L 0 7.5 M 5 7.5 E 5 3.75 4 3.75 90 -90 L 0 0",  // B
    "9.5 E 5.5 7 5.5 7 45 315",                                                                      // C
    "10 M 0 0 L 0 14 L 4 14 E 4 7 6 7 90 -90 L 0 0",                                                 // D
    "8 M 8 14 L 0 14 L 0 0 L 8 0 M 0 7.5 L 6.5 7.5",                                                 // E
    "8 M 8 14 L 0 14 L 0 0 M 0 7.5 L 6.5 7.5",                                                       // F
    "10.7 E 5.5 7 5.5 7 48 340 L 10.67 6.8 L 6 6.8",                                                 // G
    "10 M 0 0 L 0 14 M 10 0 L 10 14 M 0 7.5 L 10 7.5",                                               // H
    "0 M 0 0 L 0 14",                                                                                // I
    "6 M 6 14 L 6 4 E 3 4 3 4 0 -180",                                                               // J
    "9 M 0 0 L 0 14 M 9 14 L 0 5 M 3.2 8.2 L 9 0",                                                   // K
    "7.5 M 0 14 L 0 0 L 7.5 0",                                                                      // L
    "12 M 0 0 L 0 14 L 6 3 L 12 14 L 12 0",                                                          // M
    "10 M 0 0 L 0 14 L 10 0 L 10 14",                                                                // N
    "12 E 6 7 6 7 0 360",                                                                            // O
    "9 M 0 0 L 0 14 L 5 14 E 5 10.25 4 3.75 90 -90 L 0 6.5",                                         // P
    "12 E 6 7 6 7 0 360 M 7.5 3.5 L 12 -1",                                                          // Q
    "9 M 0 0 L 0 14 L 5 14 E 5 10.25 4 3.75 90 -90 L 0 6.5 M 5 6.5 L 9 0",                           // R
    "9 E 4.5 10.5 4 3.5 30 270 E 4.5 3.5 4.5 3.5 90 -150",                                           // S
    "10 M 0 14 L 10 14 M 5 14 L 5 0",                                                                // T
    "10 M 0 14 L 0 5 E 5 5 5 5 180 360 L 10 14",                                                     // U
    "10 M 0 14 L 5 0 L 10 14",                                                                       // V
    "14 M 0 14 L 3.5 0 L 7 14 L 10.5 0 L 14 14",                                                     // W
    "10 M 0 0 L 10 14 M 0 14 L 10 0",                                                                // X
    "10 M 0 14 L 5 7 L 10 14 M 5 7 L 5 0",                                                           // Y
    "9 M 0 14 L 9 14 L 0 0 L 9 0",                                                                   // Z
    "3.5 M 3.5 15 L 0 15 L 0 -3 L 3.5 -3",                                                           // [
    "6 M 0 15 L 6 -2",                                                                               // backslash
    "3.5 M 0 15 L 3.5 15 L 3.5 -3 L 0 -3",                                                           // ]
    "7 M 0 8 L 3.5 14 L 7 8",                                                                        // ^
    "9 M 0 -2.5 L 9 -2.5",                                                                           // _
    "2 M 0 14 L 2 11",                                                                               // `
    "8 E 4 5 4 5 0 360 M 8 10 L 8 0",                                                                // a
    "8 M 0 14 L 0 0 B E 4 5 4 5 0 360",                                                              // b
    "7 E 4.2 5 4.2 5 50 310",                                                                        // c
    "8 E 4 5 4 5 0 360 M 8 14 L 8 0",                                                                // d
    "8 M 0 5.2 L 8 5.2 E 4 5.1 4 4.9 0 320",                                                         // e
    "5.2 M 2 0 L 2 11 E 5 11 3 3 180 90 L 5.2 14 M 0 10 L 5.2 10",                                   // f
    "8 E 4 5 4 5 0 360 M 8 10 L 8 -.5 E 4 -.5 4 3.5 0 -150",                                         // g
    "7.5 M 0 14 L 0 0 M 0 6 E 3.75 6 3.75 4 180 0 L 7.5 0",                                          // h
    "0 M 0 10 L 0 0 M 0 13.6 L 0 13.4",                                                              // i
    "2.5 M 2.5 10 L 2.5 -1 E 0 -1 2.5 3 0 -90 M 2.5 13.6 L 2.5 13.4",                                // j
    "7.5 M 0 14 L 0 0 M 7 10 L 0 3.5 M 2.7 6 L 7.5 0",                                               // k
    "0 M 0 14 L 0 0",                                                                                // l
    "12 M 0 10 L 0 0 M 0 6.5 E 3 6.5 3 3.5 180 0 L 6 0 M 6 6.5 E 9 6.5 3 3.5 180 0 L 12 0",          // m
    "7.5 M 0 10 L 0 0 M 0 6 E 3.75 6 3.75 4 180 0 L 7.5 0",                                          // n
    "8.6 E 4.3 5 4.3 5 0 360",                                                                       // o
    "8 M 0 10 L 0 -4 B E 4 5 4 5 0 360",                                                             // p
    "8 E 4 5 4 5 0 360 M 8 10 L 8 -4",                                                               // q
    "4.6 M 0 10 L 0 0 M 0 6 E 4 6 4 4 180 80",                                                       // r
    "7 E 3.5 7.5 3.1 2.5 30 270 E 3.5 2.5 3.5 2.5 90 -150",                                          // s
    "5 M 2 13.5 L 2 2.5 E 4.5 2.5 2.5 2.5 180 270 L 5 0 M 0 10 L 5 10",                              // t
    "7.5 M 0 10 L 0 4 E 3.75 4 3.75 4 180 360 L 7.5 10 M 7.5 4 L 7.5 0",                             // u
    "8 M 0 10 L 4 0 L 8 10",                                                                         // v
    "12 M 0 10 L 3 0 L 6 10 L 9 0 L 12 10",                                                          // w
    "7.5 M 0 0 L 7.5 10 M 0 10 L 7.5 0",                                                             // x
    "8 M 0 10 L 4 0 M 8 10 L 4 0 L 2.7 -3.1 L .8 -4",                                                // y
    "7 M 0 10 L 7 10 L 0 0 L 7 0",                                                                   // z
    "4 E 4 13 2 2 90 180 L 2 8 E 0 8 2 2 360 270 E 0 4 2 2 90 0 L 2 -1 E 4 -1 2 2 180 270",          // {
    "0 M 0 15 L 0 -3",                                                                               // |
    "4 E 0 13 2 2 90 0 L 2 8 E 4 8 2 2 180 270 E 4 4 2 2 90 180 L 2 -1 E 0 -1 2 2 0 -90",            // }
    "9 E 2.25 6 2.25 2 180 0 E 6.75 6 2.25 2 180 360",                                               // ~
};
static_assert(std::size(glyphs) == last_glyph - first_glyph + 1);

/// Reads the numbers and letters of a glyph.
class GlyphReader {
 public:
  explicit GlyphReader(std::string_view source) : source_(source) {}

  bool at_end() {
    skip_blanks();
    return source_.empty();
  }
  char command() {
    skip_blanks();
    const char letter = source_.front();
    source_.remove_prefix(1);
    return letter;
  }
  double number() {
    skip_blanks();
    double value = 0.0;
    const auto result = std::from_chars(source_.data(), source_.data() + source_.size(), value);
    source_.remove_prefix(static_cast<std::size_t>(result.ptr - source_.data()));
    return value;
  }

 private:
  void skip_blanks() {
    while (!source_.empty() && source_.front() == ' ') source_.remove_prefix(1);
  }

  std::string_view source_;
};

void append_arc(std::vector<Point>& stroke, GlyphReader& reader) {
  const double x = reader.number(), y = reader.number(), rx = reader.number(), ry = reader.number();
  const double from = reader.number(), to = reader.number();
  const int steps = std::max(2, static_cast<int>(std::fabs(to - from) / 10.0));
  for (int i = 0; i <= steps; ++i) {
    const double angle = (from + (to - from) * i / steps) * std::numbers::pi / 180.0;
    stroke.push_back({x + rx * std::cos(angle), y + ry * std::sin(angle)});
  }
}

/// The strokes in units, y upwards, and the width.
std::vector<std::vector<Point>> read_glyph(std::string_view source, double& width) {
  GlyphReader reader(source);
  width = reader.number();
  std::vector<std::vector<Point>> strokes;
  std::vector<Point> stroke;
  const auto end_stroke = [&] {
    if (stroke.size() > 1) strokes.push_back(stroke);
    stroke.clear();
  };
  while (!reader.at_end()) {
    switch (reader.command()) {
      case 'M': end_stroke(); [[fallthrough]];
      case 'L': {
        const double x = reader.number();
        stroke.push_back({x, reader.number()});
        break;
      }
      case 'E': append_arc(stroke, reader); break;
      default: end_stroke(); break;
    }
  }
  end_stroke();
  return strokes;
}

/// Calls `function` with the glyph of every character; the later bytes of a UTF-8 character are skipped.
template <typename Function>
void for_each_glyph(std::string_view words, Function&& function) {
  for (const char letter : words) {
    if ((static_cast<unsigned char>(letter) & 0xc0) == 0x80) continue;
    const bool known = letter >= first_glyph && letter <= last_glyph;
    function(glyphs[(known ? letter : '?') - first_glyph]);
  }
}

}  // namespace

double text_width(std::string_view words, double size) {
  double units = 0.0;
  for_each_glyph(words, [&](std::string_view glyph) {
    GlyphReader reader(glyph);
    units += reader.number() + gap_between_glyphs;
  });
  return words.empty() ? 0.0 : (units - gap_between_glyphs) * size / units_per_size;
}

std::vector<std::vector<Point>> text_strokes(Point origin, std::string_view words, double size) {
  std::vector<std::vector<Point>> all;
  const double scale = size / units_per_size;
  double x = origin.x;
  for_each_glyph(words, [&](std::string_view glyph) {
    double width = 0.0;
    for (std::vector<Point>& stroke : read_glyph(glyph, width)) {
      for (Point& point : stroke) point = {x + point.x * scale, origin.y - point.y * scale};
      all.push_back(std::move(stroke));
    }
    x += (width + gap_between_glyphs) * scale;
  });
  return all;
}

double stroke_width(double size, bool bold) { return size * (bold ? 0.125 : 0.085); }

}  // namespace ort_train::plot
