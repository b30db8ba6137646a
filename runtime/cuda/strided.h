#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/tensor.h"

namespace ort_train::runtime::cuda {

/// Most axes that a kernel of ours goes through; neighbouring axes that lie alike are joined first.
inline constexpr int most_axes = 8;

/// Where element `position` of an array, counted row-major, lies in several operands.
template <int Operands>
struct StridedPositions {
  int axes = 0;
  std::int64_t dims[most_axes] = {};
  std::int64_t strides[Operands][most_axes] = {};

  struct Offsets {
    std::int64_t of[Operands];
  };

  /// Offsets in elements.
#ifdef __CUDACC__
  __host__ __device__
#endif
      Offsets
      operator()(std::int64_t position) const {
    Offsets offsets = {};
    for (int axis = axes - 1; axis > 0; --axis) {
      const std::int64_t rest = quotient(position, dims[axis]);
      const std::int64_t index = position - rest * dims[axis];
      position = rest;
      for (int operand = 0; operand < Operands; ++operand) offsets.of[operand] += index * strides[operand][axis];
    }
    if (axes > 0) {
      for (int operand = 0; operand < Operands; ++operand) offsets.of[operand] += position * strides[operand][0];
    }
    return offsets;
  }

 private:
  // GPUs divide numbers of 32 bits several times faster.
#ifdef __CUDACC__
  __host__ __device__
#endif
      static std::int64_t
      quotient(std::int64_t dividend, std::int64_t divisor) {
    if (((dividend | divisor) >> 32) != 0) return dividend / divisor;
    return static_cast<std::uint32_t>(dividend) / static_cast<std::uint32_t>(divisor);
  }
};

/// `strides[operand]` has one stride an axis of `dims`; 0 repeats. Throws when more than `most_axes` axes remain after
/// joining.
template <int Operands>
StridedPositions<Operands> strided_positions(const Dims& dims, const Dims (&strides)[Operands]) {
  StridedPositions<Operands> positions;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    bool joins = positions.axes > 0;
    for (int operand = 0; joins && operand < Operands; ++operand) {
      joins = positions.strides[operand][positions.axes - 1] == strides[operand][axis] * dims[axis];
    }
    if (!joins && positions.axes == most_axes) {
      fail("an array of extents ", ort_train::to_string(dims), " has more than ", most_axes, " axes that lie apart");
    }
    const int target = joins ? positions.axes - 1 : positions.axes++;
    positions.dims[target] = joins ? positions.dims[target] * dims[axis] : dims[axis];
    for (int operand = 0; operand < Operands; ++operand) positions.strides[operand][target] = strides[operand][axis];
  }
  return positions;
}

}  // namespace ort_train::runtime::cuda
