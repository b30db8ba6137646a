#include "runtime/data/label_slot.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "runtime/data/convert.h"
#include "runtime/data/sample_shape.h"

namespace ort_train::data {

namespace {

/// Extents of 1 do not make labels different: [1] stands for [] and the other way round.
Dims without_ones(const Dims& dims) {
  Dims kept;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(kept), [](std::int64_t extent) { return extent != 1; });
  return kept;
}

}  // namespace

Dims fit_label(const Field& field, const LabelSlot& slot) {
  const bool is_whole = is_integer(field.dtype) || field.dtype == DataType::boolean;
  if (slot.class_count > 0 && !is_whole) {
    fail("the labels '", field.name, "' are ", name_of(field.dtype), ", but the loss of '", slot.name,
         "' takes class numbers 0 to ", slot.class_count - 1, ": give whole numbers (int64, say)",
         element_count(field.dims) == slot.class_count ? ", not one column a class" : "");
  }
  if (!is_convertible(field.dtype, slot.dtype)) {
    fail("the labels '", field.name, "' are ", name_of(field.dtype), ", but the loss of '", slot.name, "' takes ",
         name_of(slot.dtype));
  }
  Dims dims = slot.dims;
  if (dims.size() == field.dims.size()) {
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = dims[i] < 0 ? field.dims[i] : dims[i];
  }
  if (without_ones(dims) != without_ones(field.dims)) {
    fail("the labels '", field.name, "' have the shape ", to_string(field.dims), " per sample, but the loss of '",
         slot.name, "' takes ", show_dims(slot.dims));
  }
  return dims;
}

void check_labels(const Dataset& dataset, std::size_t field, const LabelSlot& slot) {
  if (slot.class_count <= 0) return;
  const Field& labels = dataset.fields().at(field);
  const std::int64_t count = element_count(labels.dims);
  std::vector<std::byte> raw(labels.bytes());
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t sample = 0; sample < dataset.size(); ++sample) {
    dataset.read(sample, field, raw.data());
    convert_elements(labels.dtype, raw.data(), DataType::int64, reinterpret_cast<std::byte*>(values.data()), count);
    for (const std::int64_t value : values) {
      const bool known = (value >= 0 && value < slot.class_count) || value == slot.ignore_index;
      if (!known) {
        fail("the label '", labels.name, "' of ", dataset.describe(sample), " is ", value, ", but the model has ",
             slot.class_count, " classes, 0 to ", slot.class_count - 1);
      }
    }
  }
}

}  // namespace ort_train::data
