#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/tensor.h"
#include "runtime/data/dataset.h"

namespace ort_train::data {

/// A target of the loss.
struct LabelSlot {
  std::string name;
  DataType dtype = DataType::int64;
  Dims dims;                                 ///< of one sample; empty for one number, -1 where the extent is free
  std::int64_t class_count = 0;              ///< labels are classes 0 ... class_count - 1; 0: labels are just numbers
  std::optional<std::int64_t> ignore_index;  ///< a label outside the classes that the loss skips
  std::string field;  ///< of the data set; empty: the field of the label's name, or the one at its position
};

/// The extents of a prepared label. Throws when the field cannot be this label: other shape or type, or numbers with
/// fractions where the loss takes classes.
Dims fit_label(const Field& field, const LabelSlot& slot);

/// Throws, naming the sample, when a label of the data set is none of the classes.
void check_labels(const Dataset& dataset, std::size_t field, const LabelSlot& slot);

}  // namespace ort_train::data
