#include "runtime/data/resize.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ort_train::data {

BilinearResize::BilinearResize(std::int64_t source_height, std::int64_t source_width, std::int64_t target_height,
                               std::int64_t target_width)
    : rows_(make_axis(source_height, target_height)), columns_(make_axis(source_width, target_width)) {}

BilinearResize::Axis BilinearResize::make_axis(std::int64_t source_size, std::int64_t target_size) {
  Axis axis{source_size, target_size, {}, {}};
  const double scale = static_cast<double>(source_size) / static_cast<double>(target_size);
  const double support = std::max(scale, 1.0);
  for (std::int64_t i = 0; i < target_size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const std::int64_t first = std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(centre - support + 0.5)), 0);
    const std::int64_t end =
        std::min<std::int64_t>(static_cast<std::int64_t>(std::floor(centre + support + 0.5)), source_size);
    axis.taps.push_back({first, end - first, axis.weights.size()});
    std::vector<double> weights;
    double sum = 0.0;
    for (std::int64_t j = first; j < end; ++j) {
      const double distance = std::fabs((static_cast<double>(j) + 0.5 - centre) / support);
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    for (const double weight : weights) axis.weights.push_back(static_cast<float>(weight / sum));
  }
  return axis;
}

template <typename T>
void BilinearResize::apply_to(const T* source, std::int64_t channels, T* target) const {
  const std::int64_t source_row = columns_.source_size * channels, target_row = columns_.target_size * channels;
  std::vector<float> narrowed(static_cast<std::size_t>(rows_.source_size * target_row));
  for (std::int64_t y = 0; y < rows_.source_size; ++y) {
    const T* in = source + y * source_row;
    float* out = narrowed.data() + y * target_row;
    for (const Taps& taps : columns_.taps) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        float sum = 0.0f;
        for (std::int64_t j = 0; j < taps.count; ++j) {
          sum += columns_.weights[taps.first_weight + static_cast<std::size_t>(j)] *
                 static_cast<float>(in[(taps.first + j) * channels + channel]);
        }
        *out++ = sum;
      }
    }
  }
  std::vector<float> row(static_cast<std::size_t>(target_row));
  for (const Taps& taps : rows_.taps) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (std::int64_t j = 0; j < taps.count; ++j) {
      const float weight = rows_.weights[taps.first_weight + static_cast<std::size_t>(j)];
      const float* in = narrowed.data() + (taps.first + j) * target_row;
      for (std::int64_t x = 0; x < target_row; ++x) row[static_cast<std::size_t>(x)] += weight * in[x];
    }
    for (const float value : row) {
      if constexpr (std::is_same_v<T, std::uint8_t>) {
        *target++ = static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
      } else {
        *target++ = value;
      }
    }
  }
}

void BilinearResize::apply(const std::uint8_t* source, std::int64_t channels, std::uint8_t* target) const {
  apply_to(source, channels, target);
}

void BilinearResize::apply(const float* source, std::int64_t channels, float* target) const {
  apply_to(source, channels, target);
}

}  // namespace ort_train::data
