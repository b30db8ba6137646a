#include "runtime/data/input_transform.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/data/convert.h"

namespace ort_train::data {

namespace {

bool same_bytes_layout(const SampleShape& shape) { return shape.layout == shape.field_layout || shape.channels == 1; }

Dims resized_dims(const SampleShape& shape) {
  const PlaneSize size = shape.source_size;
  if (shape.field_layout == ImageLayout::channels_last) return {size.height, size.width, shape.channels};
  return {shape.channels, size.height, size.width};
}

}  // namespace

InputTransform::InputTransform(const Field& field, const InputSlot& slot, const Statistics& statistics)
    : name_(slot.name),
      field_dtype_(field.dtype),
      dtype_(slot.dtype),
      augmentation_(slot.options.augmentation),
      shape_(fit_shape(field, slot)) {
  if (!is_convertible(field.dtype, slot.dtype)) {
    fail("the data '", field.name, "' are ", name_of(field.dtype), ", but the model's input '", slot.name, "' takes ",
         name_of(slot.dtype));
  }
  if (shape_.is_image() && shape_.field_size != shape_.source_size) {
    resize_.emplace(shape_.field_size.height, shape_.field_size.width, shape_.source_size.height,
                    shape_.source_size.width);
  }
  is_image_ = shape_.is_image() && (resize_ || augmentation_.active() || !same_bytes_layout(shape_));
  source_dims_ = resize_ ? resized_dims(shape_) : field.dims;
  set_normalization(slot.options, statistics);
  if ((is_image_ || normalized_) && !is_floating_point(dtype_)) {
    fail_usage("the model's input '", name_, "' takes ", name_of(dtype_),
               ", so its data can be neither resized, augmented, scaled nor rearranged");
  }
}

std::vector<float> InputTransform::per_element(const char* what, const std::vector<float>& given,
                                               const Tensor& computed, float otherwise) const {
  const std::int64_t count = element_count(shape_.dims);
  const auto given_size = static_cast<std::int64_t>(given.size());
  if (given_size > 1 && given_size != shape_.channels) {
    fail_usage("the ", what, " of the input '", name_, "' has ", given_size, " numbers, but the data have ",
               shape_.channels, " channel(s)");
  }
  if (computed.defined() && computed.size() != count && computed.size() != shape_.channels) {
    fail("the ", what, " of the input '", name_, "' has the shape ", to_string(computed.dims()),
         ", but a sample has the shape ", to_string(shape_.dims));
  }
  std::vector<float> values(static_cast<std::size_t>(count), otherwise);
  for (std::int64_t i = 0; i < count; ++i) {
    float& value = values[static_cast<std::size_t>(i)];
    if (given_size > 0) {
      value = given[given_size == 1 ? 0 : static_cast<std::size_t>(shape_.channel_of(i))];
    } else if (computed.defined()) {
      value = computed.data<float>()[computed.size() == count ? i : shape_.channel_of(i)];
    }
  }
  return values;
}

void InputTransform::set_normalization(const InputOptions& options, const Statistics& statistics) {
  const std::vector<float> mean = per_element("mean", options.given_mean, statistics.mean, 0.0f);
  const std::vector<float> deviation = per_element("deviation", options.given_deviation, statistics.deviation, 1.0f);
  factor_.resize(mean.size());
  offset_.resize(mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (!(deviation[i] > 0.0f)) {
      fail("the deviation of the input '", name_, "' must be positive, not ", deviation[i],
           ": where data never vary, do not divide by it");
    }
    factor_[i] = options.scale / deviation[i];
    offset_[i] = -mean[i] / deviation[i];
    normalized_ = normalized_ || factor_[i] != 1.0f || offset_[i] != 0.0f;
  }
}

void InputTransform::apply(Scratch& scratch, const std::optional<RandomStream>& random, std::byte* destination) const {
  if (is_image_) {
    apply_to_image(scratch, random, destination);
  } else {
    apply_to_array(scratch, destination);
  }
}

void InputTransform::apply_to_array(Scratch& scratch, std::byte* destination) const {
  const std::size_t count = factor_.size();
  if (!normalized_) {
    convert_elements(field_dtype_, scratch.raw.data(), dtype_, destination, static_cast<std::int64_t>(count));
  } else if (dtype_ == DataType::float32 && field_dtype_ == DataType::uint8) {
    // The usual case: bytes of a picture, in one pass.
    const auto* source = reinterpret_cast<const std::uint8_t*>(scratch.raw.data());
    auto* out = reinterpret_cast<float*>(destination);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(source[i]) * factor_[i] + offset_[i];
  } else if (dtype_ == DataType::float64) {
    convert_elements(field_dtype_, scratch.raw.data(), dtype_, destination, static_cast<std::int64_t>(count));
    auto* out = reinterpret_cast<double*>(destination);
    for (std::size_t i = 0; i < count; ++i) out[i] = out[i] * factor_[i] + offset_[i];
  } else {
    scratch.normalized.resize(count);
    auto* normalized = reinterpret_cast<std::byte*>(scratch.normalized.data());
    convert_elements(field_dtype_, scratch.raw.data(), DataType::float32, normalized, static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) scratch.normalized[i] = scratch.normalized[i] * factor_[i] + offset_[i];
    convert_elements(DataType::float32, normalized, dtype_, destination, static_cast<std::int64_t>(count));
  }
}

DataType InputTransform::source_dtype() const {
  const bool as_it_is = !is_image_ || field_dtype_ == DataType::uint8;
  return as_it_is ? field_dtype_ : DataType::float32;
}

bool InputTransform::is_rendered() const {
  return is_image_ && (augmentation_.active() || shape_.source_size != shape_.target_size);
}

/// The planes of a channels-first image are images of one channel each.
std::int64_t InputTransform::planes() const {
  return shape_.field_layout == ImageLayout::channels_first ? shape_.channels : 1;
}

template <typename T>
const T* InputTransform::resized(const T* source, Scratch& scratch) const {
  if (!resize_) return source;
  const std::int64_t plane_channels = shape_.channels / planes();
  const auto plane_length = [&](PlaneSize size) { return size.height * size.width * plane_channels; };
  const std::int64_t from = plane_length(shape_.field_size), to = plane_length(shape_.source_size);
  scratch.resized.resize(static_cast<std::size_t>(planes() * to) * sizeof(T));
  auto* resized = reinterpret_cast<T*>(scratch.resized.data());
  for (std::int64_t plane = 0; plane < planes(); ++plane) {
    resize_->apply(source + plane * from, plane_channels, resized + plane * to);
  }
  return resized;
}

const std::byte* InputTransform::source_image(Scratch& scratch) const {
  if (field_dtype_ == DataType::uint8) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.raw.data());
    return reinterpret_cast<const std::byte*>(resized(bytes, scratch));
  }
  const std::byte* source = scratch.raw.data();
  if (field_dtype_ != DataType::float32) {
    const std::int64_t count = shape_.channels * shape_.field_size.height * shape_.field_size.width;
    scratch.converted.resize(static_cast<std::size_t>(count));
    auto* converted = reinterpret_cast<std::byte*>(scratch.converted.data());
    convert_elements(field_dtype_, source, DataType::float32, converted, count);
    source = converted;
  }
  return reinterpret_cast<const std::byte*>(resized(reinterpret_cast<const float*>(source), scratch));
}

void InputTransform::apply_to_source(Scratch& scratch, std::byte* destination) const {
  const std::byte* source = is_image_ ? source_image(scratch) : scratch.raw.data();
  const std::size_t bytes = static_cast<std::size_t>(element_count(source_dims_)) * size_of(source_dtype());
  std::copy_n(source, bytes, destination);
}

Placement InputTransform::placement(const std::optional<RandomStream>& random) const {
  return random ? draw_placement(augmentation_, shape_.source_size, shape_.target_size, *random)
                : centred(shape_.source_size, shape_.target_size);
}

void InputTransform::place(const std::optional<RandomStream>& random, float* numbers) const {
  const Placement drawn = placement(random);
  numbers[0] = drawn.down;
  numbers[1] = drawn.right;
  numbers[2] = drawn.mirror_rows ? 1.0f : 0.0f;
  numbers[3] = drawn.mirror_columns ? 1.0f : 0.0f;
}

template <typename T>
const float* InputTransform::render_image(const T* source, const std::optional<RandomStream>& random,
                                          Scratch& scratch) const {
  const std::int64_t plane_channels = shape_.channels / planes();
  const auto plane_length = [&](PlaneSize size) { return size.height * size.width * plane_channels; };
  const std::int64_t source_plane = plane_length(shape_.source_size), target_plane = plane_length(shape_.target_size);
  const Placement drawn = placement(random);
  scratch.rendered.resize(static_cast<std::size_t>(planes() * target_plane));
  for (std::int64_t plane = 0; plane < planes(); ++plane) {
    render(source + plane * source_plane, shape_.source_size, plane_channels, drawn, augmentation_.fill,
           augmentation_.fill_value, shape_.target_size, scratch.rendered.data() + plane * target_plane, scratch.rows);
  }
  return scratch.rendered.data();
}

void InputTransform::apply_to_image(Scratch& scratch, const std::optional<RandomStream>& random,
                                    std::byte* destination) const {
  const std::byte* source = source_image(scratch);
  const float* image = source_dtype() == DataType::uint8
                           ? render_image(reinterpret_cast<const std::uint8_t*>(source), random, scratch)
                           : render_image(reinterpret_cast<const float*>(source), random, scratch);
  if (dtype_ == DataType::float32) {
    normalize(image, reinterpret_cast<float*>(destination));
    return;
  }
  scratch.normalized.resize(factor_.size());
  normalize(image, scratch.normalized.data());
  convert_elements(DataType::float32, reinterpret_cast<const std::byte*>(scratch.normalized.data()), dtype_,
                   destination, static_cast<std::int64_t>(factor_.size()));
}

void InputTransform::normalize(const float* image, float* out) const {
  const std::size_t count = factor_.size();
  if (same_bytes_layout(shape_)) {
    for (std::size_t i = 0; i < count; ++i) out[i] = image[i] * factor_[i] + offset_[i];
    return;
  }
  const auto channels = static_cast<std::size_t>(shape_.channels);
  const std::size_t pixels = count / channels;
  const bool to_first = shape_.layout == ImageLayout::channels_first;
  // How far apart the pixels and the channels are in the image and in the prepared sample.
  const std::size_t from_pixel = to_first ? channels : 1, from_channel = to_first ? 1 : pixels;
  const std::size_t to_pixel = to_first ? 1 : channels, to_channel = to_first ? pixels : 1;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      const std::size_t to = pixel * to_pixel + channel * to_channel;
      out[to] = image[pixel * from_pixel + channel * from_channel] * factor_[to] + offset_[to];
    }
  }
}

}  // namespace ort_train::data
