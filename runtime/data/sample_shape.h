#pragma once

#include "runtime/data/input_slot.h"

namespace ort_train::data {

/// How the samples of a field become those of a model's input, as far as shapes go.
struct SampleShape {
  Dims dims;  ///< of a prepared sample: those of the slot, free extents filled in

  ImageLayout field_layout = ImageLayout::none;
  ImageLayout layout = ImageLayout::none;  ///< of the prepared sample; `none`: not treated as an image
  std::int64_t channels = 1;               ///< of an array that is no image: the extent of its last axis
  PlaneSize field_size;                    ///< in the data
  PlaneSize source_size;                   ///< after resizing
  PlaneSize target_size;                   ///< in the model

  bool is_image() const { return layout != ImageLayout::none; }

  /// The channel of an element of a prepared sample.
  std::int64_t channel_of(std::int64_t element) const;
};

/// Throws when the field cannot become the input, saying what was found and what was expected.
SampleShape fit_shape(const Field& field, const InputSlot& slot);

/// "[3,?,?]": extents of which some are free.
std::string show_dims(const Dims& dims);

}  // namespace ort_train::data
