#pragma once

#include "kernels/indexing.h"

namespace ort_train::kernels {

/// For every axis of a sliced array: where to start, how far to step, how many elements to take.
struct SliceWindow {
  Dims starts, steps, extents;
};

/// Negative positions count from the end, then all are clamped to the array, as the ONNX text of Slice says. `starts`,
/// `ends` and `steps` belong to `axes`, which lie in [0, rank).
SliceWindow slice_window(const Dims& dims, const std::vector<std::int64_t>& starts,
                         const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& axes,
                         const std::vector<std::int64_t>& steps);

/// The window of the node SliceGrad, whose dY has the extents `gradient`. The starts and steps are taken as they are,
/// the extents are those of dY: the attribute 'ends' of a negative step may be -1 for "up to the first element", which
/// Slice would read as the last one.
SliceWindow slice_gradient_window(const graph::Node& node, const Dims& gradient);

/// Where the first element of a window lies, and how far its elements lie apart, in an array of these strides.
std::int64_t first_element(const SliceWindow& window, const Dims& strides);
Dims stepped_strides(const SliceWindow& window, Dims strides);

}  // namespace ort_train::kernels
