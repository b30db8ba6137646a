#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "graph/graph.h"
#include "runtime/data/dataset.h"

namespace ort_train::test {

/// A classifier of [N,1,8,8] images into 3 classes with everything that makes a run hard to repeat: convolution,
/// BatchNormalization, Dropout.
std::unique_ptr<graph::Graph> small_classifier();

/// Images with a bright stripe whose place tells the class, and noise. Arrays "x" (float32 [count,1,8,8]) and "y".
void write_small_data(const std::filesystem::path& path, std::int64_t count, std::uint64_t seed);

/// The same in memory: 50 samples for training, 20 for validation.
data::Splits small_splits();

}  // namespace ort_train::test
