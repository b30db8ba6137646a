#pragma once

#include <filesystem>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// MNIST and the data sets that copy its files (Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten
/// digits"): images and labels in IDX files, named train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or with the ending .gz. The t10k files are the validation
/// set. Fields: `image`, uint8 [1, height, width]; `label`, uint8.
Splits open_mnist(const std::filesystem::path& folder);

/// Whether the folder holds any of these files.
bool is_mnist(const std::filesystem::path& folder);

/// An IDX file of unsigned bytes, gzipped or not, as a uint8 tensor.
Tensor read_idx(const std::filesystem::path& path);

}  // namespace ort_train::data
