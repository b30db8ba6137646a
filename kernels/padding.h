#pragma once

#include "kernels/functors/padding.h"
#include "kernels/indexing.h"

namespace ort_train::kernels {

/// The axes of an array padded as Pad's attribute 'mode' says; `pads` holds the begins of `axes`, which lie in
/// [0, rank), then their ends. The other axes stay as they are.
std::vector<functors::PaddedAxis> padded_axes(const std::string& mode, const Dims& dims,
                                              const std::vector<std::int64_t>& pads,
                                              const std::vector<std::int64_t>& axes);

Dims padded_dims(const std::vector<functors::PaddedAxis>& axes);

}  // namespace ort_train::kernels
