#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/dataset.h"
#include "runtime/data/input_slot.h"
#include "runtime/data/input_transform.h"
#include "runtime/data/label_slot.h"
#include "runtime/data/statistics.h"

namespace ort_train::data {

/// Gives the samples of a data set in the form in which the model and the loss take them. Several threads may read at
/// once, each with its own Scratch.
class SampleReader {
 public:
  enum class Mode { training, evaluation };  ///< augmented, or not

  /// An array of a prepared sample.
  struct Array {
    std::string name;
    DataType dtype;
    Dims dims;  ///< of one sample
    std::size_t bytes;
  };

  /// Throws when the data do not fit the slots, or when a label is none of the classes. `seed` is that of augmentation.
  SampleReader(DatasetPointer dataset, const std::vector<InputSlot>& inputs, const std::vector<LabelSlot>& labels,
               const StatisticsByInput& statistics, Mode mode, std::uint64_t seed = 0);

  const Dataset& dataset() const { return *dataset_; }
  std::int64_t size() const { return dataset_->size(); }

  /// The inputs, then the labels, in the order of the slots; an unprepared input may have two.
  const std::vector<Array>& arrays() const { return arrays_; }

  /// Writes sample `index` as epoch `epoch` sees it; `destinations` has a place for each of the arrays. The result
  /// depends on seed, epoch and index only. All inputs of a sample are augmented by the same random numbers. Errors
  /// name the sample.
  void read(std::int64_t index, std::uint32_t epoch, const std::vector<std::byte*>& destinations,
            Scratch& scratch) const;

 private:
  struct Input {
    std::size_t field;
    InputTransform transform;
    std::size_t array;  ///< the first of its arrays
    bool unprepared, placed;
  };
  struct Label {
    std::size_t field;
    std::int64_t count;
    std::size_t array;
  };

  void add_array(const std::string& name, DataType dtype, const Dims& dims);
  void read_arrays(std::int64_t index, std::uint32_t epoch, const std::vector<std::byte*>& destinations,
                   Scratch& scratch) const;

  DatasetPointer dataset_;
  Mode mode_;
  std::uint64_t seed_;
  std::vector<Input> inputs_;
  std::vector<Label> labels_;
  std::vector<Array> arrays_;
};

}  // namespace ort_train::data
