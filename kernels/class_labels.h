#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/arguments.h"

namespace ort_train::kernels {

/// Scores [N, C, d1, ...] with a label out of [0, C) for each of the positions [N, d1, ...], checked.
class ClassLabels {
 public:
  /// Takes the attribute `ignore_index` from the node. Throws an Error that names the label and its position where one
  /// is neither a class nor ignored, and where the shapes do not belong together.
  ClassLabels(const Invocation& call, const Tensor& scores, const Tensor& labels);

  /// The scores seen as [N, C, d1 * ...].
  const AxisView& view() const { return view_; }
  std::int64_t positions() const { return static_cast<std::int64_t>(labels_.size()); }
  /// Positions that are not ignored.
  std::int64_t count() const { return count_; }

  /// Negative where the position is ignored.
  std::int64_t label(std::int64_t position) const { return labels_[static_cast<std::size_t>(position)]; }
  /// Where the score of class 0 of a position is; further classes follow at distances of view().inner.
  std::int64_t offset(std::int64_t position) const {
    return position / view_.inner * view_.extent * view_.inner + position % view_.inner;
  }

 private:
  AxisView view_;
  std::vector<std::int64_t> labels_;
  std::int64_t count_ = 0;
};

}  // namespace ort_train::kernels
