#include "runtime/data/sample_reader.h"

#include <utility>

#include "base/error.h"
#include "runtime/data/convert.h"
#include "runtime/data/field_binding.h"

namespace ort_train::data {

namespace {

/// Numbers of InputTransform::place.
constexpr std::int64_t placement_size = 4;

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
    const InputTransform transform(dataset_->fields()[field], slot,
                                   found != statistics.end() ? found->second : Statistics{});
    const bool placed = slot.unprepared && !slot.unprepared->placements.empty();
    inputs_.push_back({field, transform, arrays_.size(), slot.unprepared.has_value(), placed});
    if (slot.unprepared) {
      add_array(slot.unprepared->samples, transform.source_dtype(), transform.source_dims());
      if (placed) add_array(slot.unprepared->placements, DataType::float32, {placement_size});
    } else {
      add_array(slot.name, slot.dtype, transform.shape().dims);
    }
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const LabelSlot& slot = labels[i];
    const std::size_t field = find_field(*dataset_, FieldRole::label, slot.field, slot.name, i);
    const Dims dims = fit_label(dataset_->fields()[field], slot);
    check_labels(*dataset_, field, slot);
    labels_.push_back({field, element_count(dims), arrays_.size()});
    add_array(slot.name, slot.dtype, dims);
  }
}

void SampleReader::add_array(const std::string& name, DataType dtype, const Dims& dims) {
  arrays_.push_back({name, dtype, dims, static_cast<std::size_t>(element_count(dims)) * size_of(dtype)});
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
  for (const Input& input : inputs_) {
    scratch.raw.resize(dataset_->fields()[input.field].bytes());
    dataset_->read(index, input.field, scratch.raw.data());
    std::byte* destination = destinations[input.array];
    if (!input.unprepared) {
      input.transform.apply(scratch, random, destination);
      continue;
    }
    input.transform.apply_to_source(scratch, destination);
    if (input.placed) input.transform.place(random, reinterpret_cast<float*>(destinations[input.array + 1]));
  }
  for (const Label& label : labels_) {
    const Field& field = dataset_->fields()[label.field];
    scratch.raw.resize(field.bytes());
    dataset_->read(index, label.field, scratch.raw.data());
    convert_elements(field.dtype, scratch.raw.data(), arrays_[label.array].dtype, destinations[label.array],
                     label.count);
  }
}

}  // namespace ort_train::data
