#pragma once

#include <filesystem>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// The binary version of CIFAR-10 and CIFAR-100 (A. Krizhevsky, "Learning multiple layers of features from tiny
/// images", 2009). A record is the label bytes (CIFAR-10: the class; CIFAR-100: the coarse, then the fine class) and
/// 3072 pixel bytes: the red, green and blue plane of 32 x 32 pixels, row by row.
///
/// The folder holds data_batch_1.bin ... data_batch_5.bin and test_batch.bin, or train.bin and test.bin; it may also be
/// the folder above, as the archives unpack it. The test files are the validation set. Fields: `image`, uint8
/// [3,32,32]; `label`, uint8; for CIFAR-100 also `coarse_label`.
Splits open_cifar10(const std::filesystem::path& folder);
Splits open_cifar100(const std::filesystem::path& folder);

/// Whether the folder looks like one of them, complete or not.
bool is_cifar10(const std::filesystem::path& folder);
bool is_cifar100(const std::filesystem::path& folder);

}  // namespace ort_train::data
