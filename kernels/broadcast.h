#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"

namespace ort_train::kernels {

/// The extents of the result of ONNX's multidirectional broadcasting. Throws when they do not fit.
Dims broadcast_dims(const Dims& a, const Dims& b);

/// A walk over a dense array of the extents `result` together with dense operands that broadcast to it. Axes along
/// which every operand is either dense or repeated are merged, so operands of equal shape make a single run.
class Broadcast {
 public:
  /// Throws when an operand does not broadcast to `result`.
  Broadcast(const Dims& result, const std::vector<Dims>& operands);

  /// Elements of the result.
  std::int64_t size() const { return size_; }

  /// How far operand `index` moves from one element of a run to the next: 1, or 0 when it is repeated.
  std::int64_t stride(std::size_t index) const { return run_strides_[index]; }

  /// Cuts the elements [begin, end) of the result into runs and calls `visit(position, offsets, length)` for each:
  /// elements position.. of the result belong to elements offsets[i].. of operand i.
  template <typename Visit>
  void for_each_run(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    std::vector<std::int64_t> offsets(run_strides_.size());
    for (std::int64_t position = begin; position < end;) {
      const std::int64_t within = position % run_length_;
      locate(position / run_length_, within, offsets);
      const std::int64_t rest = run_length_ - within;
      const std::int64_t length = rest < end - position ? rest : end - position;
      visit(position, offsets.data(), length);
      position += length;
    }
  }

 private:
  struct Axis {
    std::int64_t extent;
    std::vector<std::int64_t> strides;  // of each operand
  };

  void locate(std::int64_t run, std::int64_t within, std::vector<std::int64_t>& offsets) const;

  std::int64_t size_ = 1;
  std::int64_t run_length_ = 1;
  std::vector<std::int64_t> run_strides_;
  std::vector<Axis> outer_;  // innermost first
};

}  // namespace ort_train::kernels
