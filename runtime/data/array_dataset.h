#pragma once

#include <string>
#include <vector>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// Samples held in memory: one array per field, its first axis counts the samples.
class ArrayDataset final : public Dataset {
 public:
  struct Array {
    std::string name;
    FieldRole role;
    ImageLayout layout;
    Tensor values;  ///< [samples, ...]
  };

  /// A file and the samples it gave, for `describe`.
  struct Source {
    std::string name;
    std::int64_t samples;
  };

  /// Throws when the arrays have no sample axis, differ in length, or are empty. `sample_word` is what the sources call
  /// a sample: "record", "image", "row".
  ArrayDataset(std::vector<Array> arrays, std::vector<Source> sources, std::string sample_word,
               std::vector<std::string> class_names = {});

  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::size_t field, std::byte* destination) const override;
  std::string describe(std::int64_t index) const override;
  const std::vector<std::string>& class_names() const override { return class_names_; }

 private:
  std::int64_t size_ = 0;
  std::vector<Array> arrays_;
  std::vector<Field> fields_;
  std::vector<Source> sources_;
  std::string sample_word_;
  std::vector<std::string> class_names_;
};

}  // namespace ort_train::data
