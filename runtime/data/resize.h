#pragma once

#include <cstdint>
#include <vector>

namespace ort_train::data {

/// Bilinear resize with pixel centres at half coordinates. When an axis shrinks, the triangle is widened by the same
/// factor, so that every source pixel counts and nothing flickers (what Pillow calls BILINEAR). One pass per axis.
class BilinearResize {
 public:
  BilinearResize(std::int64_t source_height, std::int64_t source_width, std::int64_t target_height,
                 std::int64_t target_width);

  /// [height, width, channels] to the target's height and width; bytes are rounded to nearest. Planes of channels-first
  /// images are resized one by one, as images of one channel.
  void apply(const std::uint8_t* source, std::int64_t channels, std::uint8_t* target) const;
  void apply(const float* source, std::int64_t channels, float* target) const;

 private:
  /// The weighted neighbours of one target position: `weights[first_weight...]` for source positions from `first` on.
  struct Taps {
    std::int64_t first, count;
    std::size_t first_weight;
  };
  struct Axis {
    std::int64_t source_size, target_size;
    std::vector<Taps> taps;
    std::vector<float> weights;
  };

  static Axis make_axis(std::int64_t source_size, std::int64_t target_size);

  template <typename T>
  void apply_to(const T* source, std::int64_t channels, T* target) const;

  Axis rows_, columns_;
};

}  // namespace ort_train::data
