#include "runtime/cuda/reduction_plan.h"

#include <algorithm>

namespace ort_train::runtime::cuda {

namespace {

constexpr std::int64_t short_group = 64;
// Enough to keep the largest GPUs busy, and the least that is worth a thread or a block of its own.
constexpr std::int64_t wanted_threads = 131072, least_of_thread = 32;
constexpr std::int64_t wanted_blocks = 1024, least_of_block = 8192;

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ReductionPlan::ReductionPlan(const Format& format, const std::vector<bool>& is_reduced) {
  const Dims strides = format.strides();
  Dims dims_of[2], strides_of[2];
  bool innermost_is_kept = false;
  for (std::size_t axis = 0; axis < is_reduced.size(); ++axis) {
    const std::int64_t extent = format.dims()[axis];
    dims_of[is_reduced[axis]].push_back(extent);
    strides_of[is_reduced[axis]].push_back(strides[axis]);
    if (extent > 1 && strides[axis] == 1) innermost_is_kept = !is_reduced[axis];
  }
  const Dims kept_strides[1] = {strides_of[0]}, reduced_strides[1] = {strides_of[1]};
  kept = strided_positions<1>(dims_of[0], kept_strides);
  reduced = strided_positions<1>(dims_of[1], reduced_strides);
  results = element_count(dims_of[0]);
  group = element_count(dims_of[1]);
  thread_each = innermost_is_kept || group <= short_group;
  const std::int64_t wanted = (thread_each ? wanted_threads : wanted_blocks) / results;
  const std::int64_t most = rounded_up_quotient(group, thread_each ? least_of_thread : least_of_block);
  length = rounded_up_quotient(group, std::clamp<std::int64_t>(wanted, 1, most));
  if (group <= short_group) length = group;
  parts = rounded_up_quotient(group, length);
}

}  // namespace ort_train::runtime::cuda
