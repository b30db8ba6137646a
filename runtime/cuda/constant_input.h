#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// Input `index` as integers where the graph holds them, `fallback` where it is left out; nothing where they are
/// computed in the step, and are not known when the kernel is chosen.
std::optional<std::vector<std::int64_t>> constant_integers(const Request& request, std::size_t index,
                                                           std::vector<std::int64_t> fallback = {});

}  // namespace ort_train::runtime::cuda
