#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// Which arrays of a file or folder are inputs and which are labels. Empty inputs: `x`. Empty labels: `y` where there
/// is one, none otherwise.
struct ArrayNames {
  std::vector<std::string> inputs;
  std::vector<std::string> labels;
};

/// Arrays by name: an `.npz` archive, a folder of `.npy` files (the name is the file's), or one `.npy` file with its
/// neighbours (it is then the default input). The first axis of every array counts the samples.
///
/// Default names are "x" (or the only array that is no label) and "y" or "label".
///
/// When the archive has `NAME_train` for every name, those are the training set, and `NAME_validation`, `NAME_val` or
/// `NAME_test` the validation set. A folder may also hold `train.npz` and `validation.npz`, `val.npz` or `test.npz`.
/// In every other case all samples are training samples.
Splits open_arrays(const std::filesystem::path& path, const ArrayNames& names);

/// Whether the folder holds arrays.
bool holds_arrays(const std::filesystem::path& folder);

}  // namespace ort_train::data
