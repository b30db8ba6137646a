#include "kernels/reduction.h"

namespace ort_train::kernels {

ReductionPlan::ReductionPlan(const Dims& dims, const std::vector<bool>& reduced) {
  std::int64_t stride = 1;
  const std::vector<Axis>* previous = nullptr;
  std::vector<Axis>* innermost = nullptr;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    std::vector<Axis>& axes = reduced[i] ? reduced_ : kept_;
    if (previous == &axes) {
      axes.back().extent *= dims[i];
    } else {
      axes.push_back({dims[i], stride});
    }
    stride *= dims[i];
    previous = &axes;
    if (innermost == nullptr) innermost = &axes;
  }
  if (innermost != nullptr) {
    (innermost == &reduced_ ? inner_group_ : inner_results_) = innermost->front().extent;
    innermost->erase(innermost->begin());
  }
  for (const Axis& axis : kept_) outer_results_ *= axis.extent;
  for (const Axis& axis : reduced_) outer_group_ *= axis.extent;
}

std::int64_t ReductionPlan::offset(const std::vector<Axis>& axes, std::int64_t index) {
  if (axes.empty()) return 0;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    offset += (index % axes[i].extent) * axes[i].stride;
    index /= axes[i].extent;
  }
  return offset + index * axes.back().stride;
}

}  // namespace ort_train::kernels
