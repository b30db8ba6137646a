#include "runtime/data/array_dataset.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace ort_train::data {

namespace {

std::string joined_names(const std::vector<ArrayDataset::Source>& sources) {
  std::string names;
  for (const auto& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

}  // namespace

ArrayDataset::ArrayDataset(std::vector<Array> arrays, std::vector<Source> sources, std::string sample_word,
                           std::vector<std::string> class_names)
    : arrays_(std::move(arrays)),
      sources_(std::move(sources)),
      sample_word_(std::move(sample_word)),
      class_names_(std::move(class_names)) {
  const std::string where = joined_names(sources_);
  if (arrays_.empty()) fail(where, " holds no array to train on");
  for (const Array& array : arrays_) {
    const Dims& dims = array.values.dims();
    if (dims.empty())
      fail("the array '", array.name, "' of ", where, " is a single number; its first axis must count samples");
    if (dims[0] != arrays_[0].values.dims()[0]) {
      fail("the arrays of ", where, " differ in length: '", arrays_[0].name, "' has ", arrays_[0].values.dims()[0],
           " samples and '", array.name, "' has ", dims[0]);
    }
    fields_.push_back({array.name, array.values.dtype(), Dims(dims.begin() + 1, dims.end()), array.role, array.layout});
  }
  size_ = arrays_[0].values.dims()[0];
  if (size_ == 0) fail("the data set ", where, " is empty: it has no samples");
}

void ArrayDataset::read(std::int64_t index, std::size_t field, std::byte* destination) const {
  if (index < 0 || index >= size_) fail("sample ", index, " was asked for, but the data set has ", size_, " samples");
  const std::size_t bytes = fields_.at(field).bytes();
  if (bytes > 0) std::memcpy(destination, arrays_[field].values.raw() + static_cast<std::size_t>(index) * bytes, bytes);
}

std::string ArrayDataset::describe(std::int64_t index) const {
  for (const Source& source : sources_) {
    if (index < source.samples) return text(sample_word_, " ", index, " of ", source.name);
    index -= source.samples;
  }
  return text(sample_word_, " ", index);
}

}  // namespace ort_train::data
