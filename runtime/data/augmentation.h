#pragma once

#include <cstdint>
#include <vector>

#include "base/image_fill.h"
#include "base/random.h"

namespace ort_train::data {

using ort_train::FillMode;

/// Random changes of a training image, drawn anew for every sample in every epoch. They are made in the units of the
/// data, before anything is scaled or subtracted.
struct Augmentation {
  float width_shift = 0.0f;      ///< the image moves by up to this fraction of its width, either way, uniformly
  float height_shift = 0.0f;     ///< and of its height; fractions of a pixel are interpolated bilinearly
  bool horizontal_flip = false;  ///< mirrored left to right with probability 1/2
  bool vertical_flip = false;
  bool random_crop = false;       ///< a random window of the model's input size out of the padded image
  std::int64_t crop_padding = 0;  ///< pixels added on every side before the crop
  FillMode fill = FillMode::nearest;
  float fill_value = 0.0f;  ///< for `constant`

  bool active() const {
    return width_shift != 0.0f || height_shift != 0.0f || horizontal_flip || vertical_flip || random_crop;
  }
};

/// What is left for evaluation: nothing random; a crop takes the middle.
Augmentation without_randomness(const Augmentation& augmentation);

struct PlaneSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool operator==(const PlaneSize&) const = default;
};

/// Where the pixels of the target come from: target (y, x), after the flips, shows the source at (y + down, x + right).
struct Placement {
  float down = 0.0f;
  float right = 0.0f;
  bool mirror_rows = false;     ///< left to right
  bool mirror_columns = false;  ///< top to bottom
};

/// The middle of the source.
Placement centred(PlaneSize source, PlaneSize target);

/// Draws a placement. Shift and crop add up, so that the image is interpolated only once.
Placement draw_placement(const Augmentation& augmentation, PlaneSize source, PlaneSize target, RandomStream random);

/// Renders `source`, [height, width, channels], as `target` of another size and place. `scratch` is working memory that
/// a caller keeps from one image to the next. T is std::uint8_t or float.
template <typename T>
void render(const T* source, PlaneSize source_size, std::int64_t channels, const Placement& placement, FillMode fill,
            float fill_value, PlaneSize target_size, float* target, std::vector<float>& scratch);

}  // namespace ort_train::data
