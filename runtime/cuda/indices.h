#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/host_kernel.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/strided.h"

// Arrays of indices, which kernels check while they use them.
namespace ort_train::runtime::cuda {

/// Elements of an array of int32 or int64.
struct Indices {
  In<std::int32_t> narrow;
  In<std::int64_t> wide;

  void arrays(Accesses& accesses) const { accesses(narrow)(wide); }
  __host__ __device__ std::int64_t operator[](std::int64_t i) const {
    return wide.elements != nullptr ? wide[i] : static_cast<std::int64_t>(narrow[i]);
  }
};

inline bool can_be_indices(DataType type) { return type == DataType::int32 || type == DataType::int64; }

inline Indices indices_of(const LaunchedKernel& kernel, std::size_t input) {
  if (kernel.inputs[input].dtype() == DataType::int64) return {{}, kernel.in<std::int64_t>(input)};
  return {kernel.in<std::int32_t>(input), {}};
}

/// Where a kernel writes an index that is outside of its axis: a word for each of the axes.
struct IndexError {
  std::int64_t* words = nullptr;

  /// `index` in [0, extent) from one in [-extent, extent), or -1 when it lies outside. `axis` is the place of the
  /// extent in what `IndexErrors` was given.
  __host__ __device__ std::int64_t checked(std::int64_t index, std::int64_t extent, int axis = 0) const {
    if (index >= -extent && index < extent) return index < 0 ? index + extent : index;
    words[axis] = index;
    return -1;
  }
};

/// The sentences that go with it, for one node.
class IndexErrors {
 public:
  /// At least one extent.
  IndexErrors(const Request& request, const Dims& extents) : scratch_(request.context.host_scratch.get()) {
    std::vector<std::size_t> numbers;
    for (const std::int64_t extent : extents) {
      numbers.push_back(scratch_->add_error_word([node = describe(request.node), extent](std::int64_t index) {
        return text(node, ": the index ", index, " is outside an axis of ", extent, " elements");
      }));
    }
    first_ = numbers.front();
  }
  IndexError operator()() const { return {scratch_->error_word(first_)}; }

 private:
  HostScratch* scratch_;
  std::size_t first_;
};

/// Tuples of indices of an array's leading axes.
struct IndexTuples {
  int length = 0;
  std::int64_t extents[most_axes] = {}, strides[most_axes] = {};

  /// `dims` of a row-major array, whose first axes, at most `most_axes`, the tuples index.
  IndexTuples(std::size_t axes, std::span<const std::int64_t> dims) : length(static_cast<int>(axes)) {
    const Dims all = row_major_strides(dims);
    std::copy_n(dims.begin(), axes, extents);
    std::copy_n(all.begin(), axes, strides);
  }

  /// Where what tuple number `tuple` names starts, or -1 when it leaves the array.
  __host__ __device__ std::int64_t place(const Indices& indices, std::int64_t tuple, const IndexError& error) const {
    std::int64_t place = 0;
    for (int axis = 0; axis < length; ++axis) {
      const std::int64_t index = error.checked(indices[tuple * length + axis], extents[axis], axis);
      if (index < 0) return -1;
      place += index * strides[axis];
    }
    return place;
  }
};

}  // namespace ort_train::runtime::cuda
