#include "kernels/broadcast.h"

#include <algorithm>

namespace ort_train::kernels {

namespace {

// Extent of the axis that is `from_back` axes before the last one.
std::int64_t extent_from_back(const Dims& dims, std::size_t from_back) {
  return from_back < dims.size() ? dims[dims.size() - 1 - from_back] : 1;
}

// Elements between neighbours of an operand along each axis of the result, innermost first; 0 where it is repeated.
std::vector<std::int64_t> strides_from_back(const Dims& operand, const Dims& result) {
  if (operand.size() > result.size()) {
    fail("a tensor of shape ", to_string(operand), " does not broadcast to ", to_string(result));
  }
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t extent = extent_from_back(operand, i);
    if (extent != 1 && extent != extent_from_back(result, i)) {
      fail("a tensor of shape ", to_string(operand), " does not broadcast to ", to_string(result));
    }
    strides.push_back(extent == 1 ? 0 : stride);
    stride *= extent;
  }
  return strides;
}

}  // namespace

Dims broadcast_dims(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = extent_from_back(a, i);
    const std::int64_t right = extent_from_back(b, i);
    if (left != right && left != 1 && right != 1) {
      fail("tensors of shapes ", to_string(a), " and ", to_string(b), " do not broadcast to each other");
    }
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

Broadcast::Broadcast(const Dims& result, const std::vector<Dims>& operands)
    : size_(element_count(result)), run_strides_(operands.size(), 0) {
  std::vector<std::vector<std::int64_t>> strides;
  strides.reserve(operands.size());
  for (const Dims& operand : operands) strides.push_back(strides_from_back(operand, result));

  std::vector<Axis> axes;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t extent = extent_from_back(result, i);
    if (extent == 1) continue;
    Axis axis{extent, std::vector<std::int64_t>(operands.size())};
    for (std::size_t k = 0; k < operands.size(); ++k) axis.strides[k] = strides[k][i];
    const auto continues = [&](const Axis& inner) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (axis.strides[k] != inner.strides[k] * inner.extent) return false;
      }
      return true;
    };
    if (!axes.empty() && continues(axes.back())) {
      axes.back().extent *= extent;
    } else {
      axes.push_back(std::move(axis));
    }
  }
  if (axes.empty()) return;
  run_length_ = std::max<std::int64_t>(axes.front().extent, 1);
  run_strides_ = axes.front().strides;
  outer_.assign(axes.begin() + 1, axes.end());
}

void Broadcast::locate(std::int64_t run, std::int64_t within, std::vector<std::int64_t>& offsets) const {
  for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = within * run_strides_[k];
  for (const Axis& axis : outer_) {
    const std::int64_t index = run % axis.extent;
    run /= axis.extent;
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += index * axis.strides[k];
  }
}

}  // namespace ort_train::kernels
