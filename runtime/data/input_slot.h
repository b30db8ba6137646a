#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "runtime/data/augmentation.h"
#include "runtime/data/dataset.h"

namespace ort_train::data {

/// How an input is prepared: (pixel * scale - mean) / deviation, after resizing and augmentation.
struct InputOptions {
  enum class Mean { none, per_pixel, per_channel };

  std::string field;  ///< of the data set; empty: the field of the input's name, or the one at the same position
  ImageLayout layout = ImageLayout::none;        ///< of the model's input; `none`: found from the shapes
  ImageLayout field_layout = ImageLayout::none;  ///< of the data, where the data set does not know it
  bool resize = false;                           ///< images of another size are resized; otherwise that is an error
  float scale = 1.0f;
  Mean mean = Mean::none;         ///< computed over the training set: the mean image, or one number per channel
  bool deviation = false;         ///< computed over the training set: the standard deviation per channel
  std::vector<float> given_mean;  ///< per channel (or one for all), in scaled units, instead of a computed one
  std::vector<float> given_deviation;
  Augmentation augmentation;

  bool needs_statistics() const { return mean != Mean::none || deviation; }
};

/// An input of the model.
struct InputSlot {
  std::string name;
  DataType dtype = DataType::float32;
  Dims dims;  ///< of one sample; -1 where the model leaves the extent free
  InputOptions options;

  /// What is delivered where the model's graph prepares the samples itself: the samples as the data hold them, and
  /// where each image goes (see InputTransform::place). Names of the two arrays; without the second images do not move.
  struct Unprepared {
    std::string samples, placements;
  };
  std::optional<Unprepared> unprepared;
};

}  // namespace ort_train::data
