#include "runtime/data/augmentation.h"

#include <algorithm>
#include <cmath>

namespace ort_train::data {

namespace {

/// A coordinate between two neighbours of an axis.
struct Neighbours {
  std::int64_t first;
  float fraction;  ///< of the way from `first` to the next

  explicit Neighbours(float coordinate)
      : first(static_cast<std::int64_t>(std::floor(coordinate))), fraction(coordinate - std::floor(coordinate)) {}
};

/// `out` = the row of the source at a vertical coordinate, `width * channels` numbers.
template <typename T>
void blend_rows(const T* source, PlaneSize size, std::int64_t row_length, const Neighbours& at, FillMode fill,
                float fill_value, float* out) {
  if (beyond_constant_edge(at.first, at.fraction, size.height, fill)) {
    std::fill_n(out, row_length, fill_value);
    return;
  }
  const std::int64_t upper = std::max<std::int64_t>(0, filled_position(at.first, size.height, fill));
  const T* a = source + upper * row_length;
  if (at.fraction == 0.0f) {
    for (std::int64_t i = 0; i < row_length; ++i) out[i] = static_cast<float>(a[i]);
    return;
  }
  const std::int64_t next = filled_position(at.first + 1, size.height, fill);
  const T* b = source + (next == no_pixel ? upper : next) * row_length;
  const float fraction = at.fraction;
  for (std::int64_t i = 0; i < row_length; ++i) {
    const float from = static_cast<float>(a[i]);
    out[i] = from + fraction * (static_cast<float>(b[i]) - from);
  }
}

/// `out` = the pixels of `row` at the positions `first`, `first` + 1, ... (`count` of them).
void extend_row(const float* row, std::int64_t width, std::int64_t channels, std::int64_t first, std::int64_t count,
                FillMode fill, float fill_value, float* out) {
  // Most of it is one piece of the row.
  const std::int64_t inside = std::clamp<std::int64_t>(-first, 0, count);
  const std::int64_t inside_end = std::clamp<std::int64_t>(width - first, inside, count);
  const auto extend = [&](std::int64_t i) {
    const std::int64_t position = filled_position(first + i, width, fill);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      out[i * channels + channel] = position == no_pixel ? fill_value : row[position * channels + channel];
    }
  };
  for (std::int64_t i = 0; i < inside; ++i) extend(i);
  std::copy_n(row + (first + inside) * channels, (inside_end - inside) * channels, out + inside * channels);
  for (std::int64_t i = inside_end; i < count; ++i) extend(i);
}

void blend_columns(const float* extended, std::int64_t length, std::int64_t channels, float fraction, float* out) {
  const float* next = extended + channels;
  for (std::int64_t i = 0; i < length; ++i) out[i] = extended[i] + fraction * (next[i] - extended[i]);
}

void mirror(float* row, std::int64_t width, std::int64_t channels) {
  if (channels == 1) {
    std::reverse(row, row + width);
    return;
  }
  for (std::int64_t left = 0, right = width - 1; left < right; ++left, --right) {
    std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
  }
}

}  // namespace

Augmentation without_randomness(const Augmentation& augmentation) {
  Augmentation rest;
  rest.random_crop = augmentation.random_crop;
  return rest;
}

Placement centred(PlaneSize source, PlaneSize target) {
  Placement placement;
  placement.down = static_cast<float>((source.height - target.height) / 2);
  placement.right = static_cast<float>((source.width - target.width) / 2);
  return placement;
}

Placement draw_placement(const Augmentation& augmentation, PlaneSize source, PlaneSize target, RandomStream random) {
  // Every number is drawn whether it is used or not, so that one setting does not change the draws of another.
  const float vertical = random.uniform(-1.0f, 1.0f), horizontal = random.uniform(-1.0f, 1.0f);
  const bool mirror_rows = random.chance(0.5f), mirror_columns = random.chance(0.5f);
  Placement placement = centred(source, target);
  if (augmentation.random_crop) {
    const std::int64_t padding = augmentation.crop_padding;
    const auto draw = [&](std::int64_t slack) {
      return static_cast<float>(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(slack) + 1)) -
                                padding);
    };
    placement.down = draw(source.height + 2 * padding - target.height);
    placement.right = draw(source.width + 2 * padding - target.width);
  }
  placement.down += vertical * augmentation.height_shift * static_cast<float>(source.height);
  placement.right += horizontal * augmentation.width_shift * static_cast<float>(source.width);
  placement.mirror_rows = augmentation.horizontal_flip && mirror_rows;
  placement.mirror_columns = augmentation.vertical_flip && mirror_columns;
  return placement;
}

template <typename T>
void render(const T* source, PlaneSize source_size, std::int64_t channels, const Placement& placement, FillMode fill,
            float fill_value, PlaneSize target_size, float* target, std::vector<float>& scratch) {
  const std::int64_t source_row = source_size.width * channels, target_row = target_size.width * channels;
  scratch.resize(static_cast<std::size_t>(source_row + target_row + channels));
  float* blended = scratch.data();
  float* extended = blended + source_row;
  const Neighbours column(placement.right);
  // The coordinate of every target column has the same fraction, so those beyond a constant edge are known beforehand.
  std::int64_t constant_left = 0, constant_right = target_size.width;
  if (fill == FillMode::constant) {
    constant_left = std::clamp<std::int64_t>(-column.first, 0, target_size.width);
    const std::int64_t last = source_size.width - column.first - (column.fraction > 0.0f ? 1 : 0);
    constant_right = std::clamp<std::int64_t>(last, constant_left, target_size.width);
  }
  for (std::int64_t y = 0; y < target_size.height; ++y) {
    const std::int64_t target_y = placement.mirror_columns ? target_size.height - 1 - y : y;
    float* out = target + target_y * target_row;
    blend_rows(source, source_size, source_row, Neighbours(static_cast<float>(y) + placement.down), fill, fill_value,
               blended);
    extend_row(blended, source_size.width, channels, column.first, target_size.width + 1, fill, fill_value, extended);
    blend_columns(extended, target_row, channels, column.fraction, out);
    std::fill_n(out, constant_left * channels, fill_value);
    std::fill(out + constant_right * channels, out + target_row, fill_value);
    if (placement.mirror_rows) mirror(out, target_size.width, channels);
  }
}

template void render<std::uint8_t>(const std::uint8_t*, PlaneSize, std::int64_t, const Placement&, FillMode, float,
                                   PlaneSize, float*, std::vector<float>&);
template void render<float>(const float*, PlaneSize, std::int64_t, const Placement&, FillMode, float, PlaneSize, float*,
                            std::vector<float>&);

}  // namespace ort_train::data
