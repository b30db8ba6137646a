#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ort_train {

/// What a position beyond the edge of an image shows. With an image `abcd`: `nearest` aaaa|abcd|dddd, `constant`
/// kkkk|abcd|kkkk, `reflect` dcba|abcd|dcba, `wrap` abcd|abcd|abcd.
enum class FillMode { nearest, constant, reflect, wrap };

constexpr std::string_view name_of(FillMode fill) {
  switch (fill) {
    case FillMode::nearest: return "nearest";
    case FillMode::constant: return "constant";
    case FillMode::reflect: return "reflect";
    case FillMode::wrap: return "wrap";
  }
  return "";
}

constexpr std::optional<FillMode> fill_mode_of(std::string_view name) {
  for (const FillMode fill : {FillMode::nearest, FillMode::constant, FillMode::reflect, FillMode::wrap}) {
    if (name_of(fill) == name) return fill;
  }
  return std::nullopt;
}

/// Where the fill value stands instead of a pixel.
inline constexpr std::int64_t no_pixel = -1;

/// The pixel that stands for `position` in an axis of `size`, or `no_pixel`.
constexpr std::int64_t filled_position(std::int64_t position, std::int64_t size, FillMode fill) {
  if (position >= 0 && position < size) return position;
  if (fill == FillMode::constant) return no_pixel;
  if (fill == FillMode::nearest) return position < 0 ? 0 : size - 1;
  const std::int64_t period = fill == FillMode::reflect ? 2 * size : size;
  const std::int64_t phase = ((position % period) + period) % period;
  return phase < size ? phase : period - 1 - phase;
}

/// With constant fill, nothing is interpolated across the edge: what lies beyond it has the fill value. The coordinate
/// is `first` and a fraction of the way to the next pixel.
constexpr bool beyond_constant_edge(std::int64_t first, float fraction, std::int64_t size, FillMode fill) {
  if (fill != FillMode::constant) return false;
  return first < 0 || first > size - 1 || (first == size - 1 && fraction > 0.0f);
}

}  // namespace ort_train
