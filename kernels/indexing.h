#pragma once

#include <cstdint>
#include <vector>

#include "kernels/arguments.h"

// Axes, indices and integer lists, as the operators that move elements take them.
namespace ort_train::kernels {

/// Input `index` as integers, or `fallback` where it is left out.
std::vector<std::int64_t> integers_input(const Invocation& call, std::size_t index,
                                         std::vector<std::int64_t> fallback = {});

/// The only element of integer input `index`, or `fallback` where it is left out.
std::int64_t integer_input_or(const Invocation& call, std::size_t index, std::int64_t fallback);

/// Every axis as one in [0, rank); throws for any other and for one that comes twice.
std::vector<std::int64_t> normalized_axes(std::vector<std::int64_t> axes, std::int64_t rank);

/// 0, 1, ..., rank - 1.
std::vector<std::int64_t> all_axes(std::int64_t rank);

/// `index` in [0, extent) from one in [-extent, extent); throws, naming both, outside of that.
std::int64_t checked_index(std::int64_t index, std::int64_t extent);

}  // namespace ort_train::kernels
