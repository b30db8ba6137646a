#pragma once

#include <string>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// The index of the field that feeds the slot (a model's input or a loss's label) of this role, number and name: the
/// field `asked` when that is not empty; else the field called as the slot; else the field of this role at the same
/// position. Throws, listing the fields, when there is none.
std::size_t find_field(const Dataset& dataset, FieldRole role, const std::string& asked, const std::string& slot,
                       std::size_t position);

}  // namespace ort_train::data
