#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

/// Where a kernel writes an index that is outside of its axis.
struct IndexError {
  std::int64_t* word = nullptr;

  /// `index` in [0, extent) from one in [-extent, extent), or -1 when it lies outside. `axis` is the place of the
  /// extent in what `IndexErrors` was given.
  __host__ __device__ std::int64_t checked(std::int64_t index, std::int64_t extent, int axis = 0) const {
    if (index >= -extent && index < extent) return index < 0 ? index + extent : index;
    *word = index * most_axes + axis;
    return -1;
  }
};

/// The sentence that goes with it, for one node.
class IndexErrors {
 public:
  /// At most `most_axes` extents.
  IndexErrors(const Request& request, Dims extents)
      : scratch_(request.context.host_scratch.get()),
        number_(scratch_->add_error_word([node = describe(request.node), extents](std::int64_t written) {
          const auto axis = static_cast<std::size_t>(written & (most_axes - 1));
          return text(node, ": the index ", (written - static_cast<std::int64_t>(axis)) / most_axes,
                      " is outside an axis of ", extents[axis], " elements");
        })) {
    static_assert((most_axes & (most_axes - 1)) == 0);
  }
  IndexError operator()() const { return {scratch_->error_word(number_)}; }

 private:
  HostScratch* scratch_;
  std::size_t number_;
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
