#pragma once

#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

/// Where the elements of an array stand in the whole batch: random numbers belong to (row, element of the row) there,
/// so that a part of a batch draws what the whole batch draws in its place.
///
/// A row is an index of axis 0, counted from `first_sample`; a scalar is one row. With the attribute `split_axis` > 0
/// the array is a part of a whole whose extent along that axis is `split_extent`: the part starts at index
/// `first_sample` there, rows are not shifted, and elements are counted as in the whole.
class RandomPlaces {
 public:
  RandomPlaces(const graph::Node& node, const Dims& dims, std::int64_t first_sample)
      : rows_(dims.empty() ? 1 : dims[0]), length_(rows_ == 0 ? 0 : element_count(dims) / rows_) {
    const std::int64_t axis = node.integer("split_axis", 0);
    if (axis == 0) {
      first_row_ = first_sample;
      return;
    }
    if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) {
      fail("split_axis ", axis, " is no axis of an array of shape ", to_string(dims));
    }
    const Dims row(dims.begin() + 1, dims.end());
    const AxisView view = view_along(row, axis - 1);
    const std::int64_t whole_extent = node.integer("split_extent", 0);
    if (first_sample < 0 || first_sample + view.extent > whole_extent) {
      fail("the part [", first_sample, ",", first_sample + view.extent, ") of axis ", axis,
           " does not lie in a whole of extent ", whole_extent);
    }
    runs_ = view.outer;
    length_ = view.extent * view.inner;
    first_element_ = first_sample * view.inner;
    distance_ = whole_extent * view.inner;
  }

  /// Calls body(row, element, offset, count) for runs of `count` elements that are neighbours in the array, from
  /// `offset` on, and in the row, from `element` on. Runs go to several threads.
  template <typename Body>
  void for_each_run(const Body& body) const {
    parallel_for(rows_ * runs_, 1 + costly_grain / (1 + length_), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        body(static_cast<std::uint64_t>(first_row_ + i / runs_), first_element_ + i % runs_ * distance_, i * length_,
             length_);
      }
    });
  }

 private:
  std::int64_t rows_;
  std::int64_t length_;        // of a run
  std::int64_t runs_ = 1;      // in a row
  std::int64_t distance_ = 0;  // from run to run, in the whole
  std::int64_t first_row_ = 0, first_element_ = 0;
};

}  // namespace ort_train::kernels
