#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace ort_train::data {

/// Where the channels of an image stand: `channels_first` is [channels, height, width], `channels_last` is
/// [height, width, channels]. `none`: not known to be an image.
enum class ImageLayout { none, channels_first, channels_last };

enum class FieldRole { input, label };

/// One of the arrays that make up a sample.
struct Field {
  std::string name;
  DataType dtype = DataType::undefined;
  Dims dims;  ///< of one sample, without the batch
  FieldRole role = FieldRole::input;
  ImageLayout layout = ImageLayout::none;

  std::size_t bytes() const { return static_cast<std::size_t>(element_count(dims)) * size_of(dtype); }
};

/// A fixed number of samples that all have the same fields. Every member may be called by several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;

  /// Writes one field of one sample, `fields()[field].bytes()` bytes, to `destination`. Throws when the sample cannot
  /// be read (a corrupt picture, say).
  virtual void read(std::int64_t index, std::size_t field, std::byte* destination) const = 0;

  /// Where a sample comes from, for errors: "record 17 of data_batch_2.bin".
  virtual std::string describe(std::int64_t index) const = 0;

  /// The name of each class, by label; empty when the data do not name them.
  virtual const std::vector<std::string>& class_names() const = 0;
};

using DatasetPointer = std::shared_ptr<const Dataset>;

/// What to train on and what to validate on; `validation` is null when there is nothing to validate on.
struct Splits {
  DatasetPointer training;
  DatasetPointer validation;
};

/// The samples of `source` at `indices`, in that order.
DatasetPointer make_subset(DatasetPointer source, std::vector<std::int64_t> indices);

/// Takes `fraction` (0 up to, but not including, 1) of the samples, drawn at random by `seed`, as validation set; both
/// parts keep the order of the source. A fraction of 0 gives no validation set; any other at least one sample to each.
Splits split_at_random(DatasetPointer source, double fraction, std::uint64_t seed);

}  // namespace ort_train::data
