#include "runtime/training/preparation.h"

#include <algorithm>

namespace ort_train::training {
namespace {

passes::InputPreparation::Image image_of(const data::InputTransform& transform) {
  const data::SampleShape& shape = transform.shape();
  passes::InputPreparation::Image image;
  image.channels = shape.channels;
  image.data_height = shape.source_size.height;
  image.data_width = shape.source_size.width;
  image.height = shape.target_size.height;
  image.width = shape.target_size.width;
  image.data_channels_last = shape.field_layout == data::ImageLayout::channels_last;
  image.channels_last = shape.layout == data::ImageLayout::channels_last;
  image.rendered = transform.is_rendered();
  image.fill = transform.augmentation().fill;
  image.fill_value = transform.augmentation().fill_value;
  return image;
}

/// Undefined where every number is `neutral`.
Tensor numbers(const std::vector<float>& values, const Dims& dims, float neutral) {
  if (std::all_of(values.begin(), values.end(), [&](float value) { return value == neutral; })) return {};
  Tensor tensor(DataType::float32, dims);
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

}  // namespace

passes::InputPreparation preparation_of(const data::InputTransform& transform) {
  passes::InputPreparation preparation;
  preparation.dtype = transform.source_dtype();
  preparation.dims = transform.source_dims();
  if (transform.shape().is_image()) preparation.image = image_of(transform);
  preparation.factor = numbers(transform.factor(), transform.shape().dims, 1);
  preparation.offset = numbers(transform.offset(), transform.shape().dims, 0);
  return preparation;
}

}  // namespace ort_train::training
