#pragma once

#include <filesystem>

#include "runtime/training/history.h"

namespace ort_train::training {

/// Draws the loss and the first metric over the epochs, of training and validation, as a .png or .svg file.
void write_curves(const std::filesystem::path& path, const History& history);

}  // namespace ort_train::training
