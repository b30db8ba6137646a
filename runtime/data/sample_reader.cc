#include "runtime/data/sample_reader.h"

#include <utility>

#include "base/error.h"
#include "runtime/data/convert.h"
#include "runtime/data/field_binding.h"

namespace ort_train::data {

namespace {

std::size_t bytes_of(DataType dtype, const Dims& dims) {
  return static_cast<std::size_t>(element_count(dims)) * size_of(dtype);
}

}  // namespace

SampleReader::SampleReader(DatasetPointer dataset, const std::vector<InputSlot>& inputs,
                           const std::vector<LabelSlot>& labels, const StatisticsByInput& statistics, Mode mode,
                           std::uint64_t seed)
    : dataset_(std::move(dataset)), mode_(mode), seed_(seed) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    InputSlot slot = inputs[i];
    if (mode == Mode::evaluation) slot.options.augmentation = without_randomness(slot.options.augmentation);
    const std::size_t field = find_field(*dataset_, FieldRole::input, slot.options.field, slot.name, i);
    const auto found = statistics.find(slot.name);
    inputs_.push_back({field, InputTransform(dataset_->fields()[field], slot,
                                             found != statistics.end() ? found->second : Statistics{})});
    const Dims& dims = inputs_.back().transform.shape().dims;
    arrays_.push_back({slot.name, slot.dtype, dims, bytes_of(slot.dtype, dims)});
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const LabelSlot& slot = labels[i];
    const std::size_t field = find_field(*dataset_, FieldRole::label, slot.field, slot.name, i);
    const Dims dims = fit_label(dataset_->fields()[field], slot);
    check_labels(*dataset_, field, slot);
    labels_.push_back({field, element_count(dims)});
    arrays_.push_back({slot.name, slot.dtype, dims, bytes_of(slot.dtype, dims)});
  }
}

void SampleReader::read(std::int64_t index, std::uint32_t epoch, const std::vector<std::byte*>& destinations,
                        Scratch& scratch) const {
  try {
    read_arrays(index, epoch, destinations, scratch);
  } catch (const Error& error) {
    const std::string sample = dataset_->describe(index), sentence = error.what();
    const bool named = sentence.find(sample) != std::string::npos;
    throw Error(named ? sentence : text("sample ", index, " (", sample, "): ", sentence), error.kind());
  }
}

void SampleReader::read_arrays(std::int64_t index, std::uint32_t epoch, const std::vector<std::byte*>& destinations,
                               Scratch& scratch) const {
  std::optional<RandomStream> random;
  if (mode_ == Mode::training) {
    random.emplace(seed_, RandomPurpose::augmentation, epoch, static_cast<std::uint64_t>(index));
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    scratch.raw.resize(dataset_->fields()[inputs_[i].field].bytes());
    dataset_->read(index, inputs_[i].field, scratch.raw.data());
    inputs_[i].transform.apply(scratch, random, destinations[i]);
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const Field& field = dataset_->fields()[labels_[i].field];
    const Array& array = arrays_[inputs_.size() + i];
    scratch.raw.resize(field.bytes());
    dataset_->read(index, labels_[i].field, scratch.raw.data());
    convert_elements(field.dtype, scratch.raw.data(), array.dtype, destinations[inputs_.size() + i], labels_[i].count);
  }
}

}  // namespace ort_train::data
