#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cuda/format.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

/// How the groups of elements that make one result each lie in an array, and how threads share them.
struct ReductionPlan {
  /// `reduced[i]` says whether axis i is reduced. At most `most_axes` axes.
  ReductionPlan(const Format& format, const std::vector<bool>& reduced);

  /// Offsets of a group's first element, by the result's place in row-major order, and of the others from there.
  StridedPositions<1> kept, reduced;
  /// Results, and elements of each group.
  std::int64_t results = 1, group = 1;
  /// Groups are cut into this many parts of `length` elements so that there is work for all threads; the last part may
  /// be shorter. A function of the extents alone, and so is the order of additions.
  std::int64_t parts = 1, length = 1;
  /// A thread goes through a part on its own: neighbouring threads read neighbouring elements then, or parts are short.
  bool thread_each = false;
};

}  // namespace ort_train::runtime::cuda
