#pragma once

#include <cstdint>
#include <optional>

#include "runtime/cuda/format.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

/// An array seen along one axis: lanes of `extent` elements that lie `stride` apart. Lanes are counted row-major over
/// the other axes.
struct Lanes {
  std::int64_t count = 1, extent = 1, stride = 1;
  StridedPositions<1> positions;

#ifdef __CUDACC__
  /// Where the first element of a lane lies.
  __host__ __device__ std::int64_t first(std::int64_t lane) const { return positions(lane).of[0]; }
#endif
};

/// `axis` may count from the end. Nothing when the other axes are more than a kernel goes through.
std::optional<Lanes> lanes_along(const Format& format, std::int64_t axis);

}  // namespace ort_train::runtime::cuda
