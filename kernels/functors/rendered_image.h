#pragma once

#include <cmath>
#include <cstdint>

#include "base/image_fill.h"
#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// A plane of an image that is moved by fractions of a pixel, interpolated bilinearly, and mirrored.
struct RenderedImage {
  /// Numbers that say where an image goes: down, right, mirrored left to right (0 or 1), mirrored top to bottom. Target
  /// (y, x), before it is mirrored, shows the source at (y + down, x + right).
  static constexpr std::int64_t placement_size = 4;

  std::int64_t source_height, source_width, height, width;
  FillMode fill;
  float fill_value;

  /// Target pixel (y, x) of a plane.
  template <typename T>
  ORT_TRAIN_HOST_DEVICE float pixel(const T* plane, const float* placement, std::int64_t y, std::int64_t x) const {
    if (placement[3] != 0) y = height - 1 - y;
    if (placement[2] != 0) x = width - 1 - x;
    const Neighbours row(static_cast<float>(y) + placement[0]);
    Neighbours column(placement[1]);
    column.first += x;
    const bool outside = beyond_constant_edge(row.first, row.fraction, source_height, fill) ||
                         beyond_constant_edge(column.first, column.fraction, source_width, fill);
    if (outside) return fill_value;
    const float left = blended(plane, row, column.first);
    if (column.fraction == 0.0f) return left;
    return left + column.fraction * (blended(plane, row, column.first + 1) - left);
  }

 private:
  /// A coordinate between two neighbours of an axis.
  struct Neighbours {
    std::int64_t first;
    float fraction;  ///< of the way from `first` to the next

    ORT_TRAIN_HOST_DEVICE explicit Neighbours(float coordinate)
        : first(static_cast<std::int64_t>(floorf(coordinate))), fraction(coordinate - floorf(coordinate)) {}
  };

  /// The source at a vertical coordinate, in one of its columns.
  template <typename T>
  ORT_TRAIN_HOST_DEVICE float blended(const T* plane, const Neighbours& row, std::int64_t column) const {
    const std::int64_t x = filled_position(column, source_width, fill);
    if (x == no_pixel) return fill_value;
    const std::int64_t y = filled_position(row.first, source_height, fill);
    const auto upper = static_cast<float>(plane[y * source_width + x]);
    if (row.fraction == 0.0f) return upper;
    const std::int64_t below = filled_position(row.first + 1, source_height, fill);
    return upper + row.fraction * (static_cast<float>(plane[below * source_width + x]) - upper);
  }
};

}  // namespace ort_train::kernels::functors
