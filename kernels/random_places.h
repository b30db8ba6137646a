#pragma once

#include "kernels/arguments.h"
#include "kernels/functors/random_runs.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

/// The runs of an array of the node, which may have the attributes split_axis and split_extent.
inline functors::RandomRuns random_runs(const graph::Node& node, const Dims& dims) {
  functors::RandomRuns runs;
  runs.count = dims.empty() ? 1 : dims[0];
  runs.length = runs.count == 0 ? 0 : element_count(dims) / runs.count;
  const std::int64_t axis = node.integer("split_axis", 0);
  if (axis == 0) return runs;
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) {
    fail("split_axis ", axis, " is no axis of an array of shape ", to_string(dims));
  }
  const AxisView view = view_along(Dims(dims.begin() + 1, dims.end()), axis - 1);
  runs.in_row = view.outer;
  runs.count *= view.outer;
  runs.length = view.extent * view.inner;
  runs.distance = node.integer("split_extent", 0) * view.inner;
  runs.sample_size = view.inner;
  return runs;
}

/// Where the elements of an array stand in the whole batch: random numbers belong to (row, element of the row) there,
/// so that a part of a batch draws what the whole batch draws in its place.
///
/// A row is an index of axis 0, counted from `first_sample`; a scalar is one row. With the attribute `split_axis` > 0
/// the array is a part of a whole whose extent along that axis is `split_extent`: the part starts at index
/// `first_sample` there, rows are not shifted, and elements are counted as in the whole.
class RandomPlaces {
 public:
  RandomPlaces(const graph::Node& node, const Dims& dims, std::int64_t first_sample)
      : runs_(random_runs(node, dims)), first_sample_(first_sample) {
    if (runs_.sample_size == 0) return;
    const std::int64_t extent = runs_.length / runs_.sample_size, whole = runs_.distance / runs_.sample_size;
    if (first_sample < 0 || first_sample + extent > whole) {
      fail("the part [", first_sample, ",", first_sample + extent, ") of axis ", node.integer("split_axis", 0),
           " does not lie in a whole of extent ", whole);
    }
  }

  /// Calls body(row, element, offset, count) for runs of `count` elements that are neighbours in the array, from
  /// `offset` on, and in the row, from `element` on. Runs go to several threads.
  template <typename Body>
  void for_each_run(const Body& body) const {
    parallel_for(runs_.count, 1 + costly_grain / (1 + runs_.length), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t run = begin; run < end; ++run) {
        body(runs_.row(run, first_sample_), runs_.element(run, first_sample_), run * runs_.length, runs_.length);
      }
    });
  }

 private:
  functors::RandomRuns runs_;
  std::int64_t first_sample_;
};

}  // namespace ort_train::kernels
