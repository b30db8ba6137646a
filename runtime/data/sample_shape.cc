#include "runtime/data/sample_shape.h"

#include <algorithm>

#include "base/error.h"

namespace ort_train::data {

namespace {

bool matches(const Dims& found, const Dims& expected) {
  return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                    [](std::int64_t is, std::int64_t should) { return should < 0 || is == should; });
}

bool has_free_extent(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](std::int64_t extent) { return extent < 0; });
}

struct Extents {
  std::int64_t channels;
  PlaneSize size;
};

/// Two axes are a grey picture.
Extents extents_of(const Dims& dims, ImageLayout layout) {
  if (dims.size() == 2) return {1, {dims[0], dims[1]}};
  if (layout == ImageLayout::channels_last) return {dims[2], {dims[0], dims[1]}};
  return {dims[0], {dims[1], dims[2]}};
}

bool is_usual_channel_count(std::int64_t extent) { return extent == 1 || extent == 3 || extent == 4; }

/// The layout of an array of which nothing but its shape is known.
ImageLayout guess_layout(const Dims& dims) {
  if (dims.size() == 2) return ImageLayout::channels_first;
  if (dims.size() != 3) return ImageLayout::none;
  if (is_usual_channel_count(dims[0])) return ImageLayout::channels_first;
  if (is_usual_channel_count(dims[2])) return ImageLayout::channels_last;
  return ImageLayout::none;
}

/// The layout in which the field has the shape of the input, where there is one.
ImageLayout layout_that_fits(const Dims& field, const Dims& slot, ImageLayout slot_layout) {
  if (slot_layout == ImageLayout::none) slot_layout = guess_layout(slot);
  if (slot_layout == ImageLayout::none || field.size() != 3) return ImageLayout::none;
  if (matches(field, slot)) return slot_layout;
  if (slot_layout == ImageLayout::channels_first && matches({field[2], field[0], field[1]}, slot)) {
    return ImageLayout::channels_last;
  }
  if (slot_layout == ImageLayout::channels_last && matches({field[1], field[2], field[0]}, slot)) {
    return ImageLayout::channels_first;
  }
  return ImageLayout::none;
}

ImageLayout field_layout(const Field& field, const InputSlot& slot) {
  const InputOptions& options = slot.options;
  if (options.field_layout != ImageLayout::none) return options.field_layout;
  if (field.layout != ImageLayout::none) return field.layout;
  const bool is_image_slot = slot.dims.size() == 3;
  if (is_image_slot) {
    const ImageLayout fitting = layout_that_fits(field.dims, slot.dims, options.layout);
    if (fitting != ImageLayout::none) return fitting;
  }
  // Equal shapes need no layout. Where something is done to an image as an image, its shape must tell.
  const bool needed =
      options.resize || options.augmentation.active() || (is_image_slot && !matches(field.dims, slot.dims));
  return needed ? guess_layout(field.dims) : ImageLayout::none;
}

ImageLayout slot_layout(const Field& field, ImageLayout layout_of_field, const InputSlot& slot) {
  if (slot.options.layout != ImageLayout::none) return slot.options.layout;
  if (slot.dims.size() != 3) return layout_of_field;
  const std::int64_t channels = extents_of(field.dims, layout_of_field).channels;
  const bool first = slot.dims[0] == channels, last = slot.dims[2] == channels;
  if (first != last) return first ? ImageLayout::channels_first : ImageLayout::channels_last;
  const ImageLayout guess = guess_layout(slot.dims);
  return guess != ImageLayout::none ? guess : layout_of_field;
}

PlaneSize wanted_size(const Field& field, const InputSlot& slot, const SampleShape& shape) {
  const Extents wanted = extents_of(slot.dims, shape.layout);
  if (wanted.channels >= 0 && wanted.channels != shape.channels) {
    fail("the images '", field.name, "' have ", shape.channels, " channel(s), but the model's input '", slot.name,
         "' of shape ", show_dims(slot.dims), " takes ", wanted.channels);
  }
  return {wanted.size.height >= 0 ? wanted.size.height : shape.field_size.height,
          wanted.size.width >= 0 ? wanted.size.width : shape.field_size.width};
}

/// The model takes all numbers of an image in one row.
void fit_flattened(const Field& field, const InputSlot& slot, SampleShape& shape) {
  shape.target_size = shape.field_size;
  shape.dims = {element_count(field.dims)};
  if (!matches(shape.dims, slot.dims)) {
    fail("the images '", field.name, "' of shape ", to_string(field.dims), " have ", shape.dims[0],
         " numbers, but the model's input '", slot.name, "' has the shape ", show_dims(slot.dims));
  }
}

void fit_image(const Field& field, const InputSlot& slot, SampleShape& shape) {
  if (field.dims.size() != 2 && field.dims.size() != 3) {
    fail("the data '", field.name, "' of shape ", to_string(field.dims), " per sample are not images");
  }
  const auto [channels, size] = extents_of(field.dims, shape.field_layout);
  shape.channels = channels;
  shape.field_size = size;
  if (slot.dims.size() == 3 || (slot.dims.size() == 2 && channels == 1)) {
    const PlaneSize target = shape.target_size = wanted_size(field, slot, shape);
    if (slot.dims.size() == 2) {
      shape.dims = {target.height, target.width};
    } else if (shape.layout == ImageLayout::channels_last) {
      shape.dims = {target.height, target.width, channels};
    } else {
      shape.dims = {channels, target.height, target.width};
    }
  } else {
    fit_flattened(field, slot, shape);
  }
  shape.source_size = slot.options.resize ? shape.target_size : size;
  const Augmentation& augmentation = slot.options.augmentation;
  if (augmentation.crop_padding < 0) fail_usage("the padding of a random crop must not be negative");
  const bool cropped =
      augmentation.random_crop && size.height >= shape.target_size.height && size.width >= shape.target_size.width;
  if (shape.source_size != shape.target_size && !cropped) {
    fail("the images '", field.name, "' are ", size.width, " x ", size.height, " pixels, but the model's input '",
         slot.name, "' takes ", shape.target_size.width, " x ", shape.target_size.height,
         "; switch resizing on to bring them to that size");
  }
}

void fit_array(const Field& field, const InputSlot& slot, SampleShape& shape) {
  if (slot.options.resize || slot.options.augmentation.active()) {
    fail("the data '", field.name, "' of shape ", to_string(field.dims),
         " per sample are not images: they can be neither resized nor augmented");
  }
  const std::int64_t count = element_count(field.dims);
  const bool same_row = (slot.dims.size() <= 1 || field.dims.size() <= 1) && !has_free_extent(slot.dims) &&
                        element_count(slot.dims) == count;
  if (matches(field.dims, slot.dims)) {
    shape.dims = field.dims;
  } else if (same_row) {
    shape.dims = slot.dims;
  } else if (slot.dims.size() == 1 && slot.dims[0] < 0) {
    shape.dims = {count};
  } else {
    fail("the data '", field.name, "' have the shape ", to_string(field.dims), " per sample, but the model's input '",
         slot.name, "' takes ", show_dims(slot.dims));
  }
  shape.channels = shape.dims.empty() ? 1 : shape.dims.back();
}

}  // namespace

std::int64_t SampleShape::channel_of(std::int64_t element) const {
  if (channels <= 1) return 0;
  if (layout == ImageLayout::channels_first) return element / (target_size.height * target_size.width);
  return element % channels;
}

SampleShape fit_shape(const Field& field, const InputSlot& slot) {
  SampleShape shape;
  shape.field_layout = field_layout(field, slot);
  if (shape.field_layout == ImageLayout::none) {
    fit_array(field, slot, shape);
  } else {
    shape.layout = slot_layout(field, shape.field_layout, slot);
    fit_image(field, slot, shape);
  }
  return shape;
}

std::string show_dims(const Dims& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    out += (i == 0 ? "" : ",") + (dims[i] < 0 ? std::string("?") : std::to_string(dims[i]));
  }
  return out + "]";
}

}  // namespace ort_train::data
