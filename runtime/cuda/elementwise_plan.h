#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cuda/kernel.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

/// How an elementwise operator goes through arrays that broadcast to output 0: element by element of the output, in the
/// order in which they lie in memory. Where the operands of full extent share a format the output has it too, else
/// everything is row-major.
class ElementwisePlan {
 public:
  /// The first `operands` inputs are what is gone through.
  ElementwisePlan(const Request& request, std::size_t operands);

  /// False when the arrays have more axes than a kernel goes through.
  bool fits() const { return fits_; }
  /// Elements of the output.
  std::int64_t count() const { return output_.size(); }
  const Format& output() const { return output_; }
  const Format& operand(std::size_t index) const { return operands_[index]; }

  /// Where the operands' elements for an element of the output lie.
  template <int Operands>
  StridedPositions<Operands> positions() const {
    Dims strides[Operands];
    for (std::size_t i = 0; i < operands_.size(); ++i) strides[i] = strides_[i];
    for (std::size_t i = operands_.size(); i < Operands; ++i) strides[i] = Dims(dims_.size(), 0);
    return strided_positions<Operands>(dims_, strides);
  }

  /// Sets the formats, and lets the output overwrite the first `shareable` operands where they have its extents and
  /// elements of its size.
  void apply_to(Kernel& kernel, std::size_t shareable) const;

 private:
  void add_operand(const Format& format);

  Format output_;
  std::vector<Format> operands_;
  bool fits_ = true;
  // In the order of the output in memory, the outermost axis first.
  Dims dims_;
  std::vector<Dims> strides_;
};

}  // namespace ort_train::runtime::cuda
