#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/data/array_files.h"
#include "runtime/data/dataset.h"
#include "runtime/data/image_folder.h"

namespace ort_train::data {

struct DatasetSpec {
  std::filesystem::path path;

  /// "cifar10", "cifar100", "mnist", "images" or "arrays"; empty recognizes the kind from what lies at the path.
  std::string kind;

  /// Arrays or pictures to validate on, of the same kind; CIFAR and MNIST have validation files of their own.
  std::filesystem::path validation_path;

  /// When nothing else says what to validate on: this part of the samples, drawn by `seed`. 0: no validation.
  double validation_fraction = 0.1;
  std::uint64_t seed = 0;

  ArrayNames arrays;  ///< for arrays
  ImageSize image;    ///< for image folders
};

/// Opens a data set. A folder of pictures may hold the folders `train` and `validation`, `val` or `test`. The two parts
/// have the same fields. Throws when a file is missing, truncated or damaged, when the data set is empty, or when the
/// path is of no known kind.
Splits open_dataset(const DatasetSpec& spec);

}  // namespace ort_train::data
