#pragma once

#include "kernels/kernel.h"

// What nearly every kernel does with its node before it computes.
namespace ort_train::kernels {

/// The output to write into: made here where its extents could not be inferred. Throws when inference expected another
/// type or other extents than the kernel computes. Its elements are undefined; write all of them.
Tensor& output(Invocation& call, std::size_t index, DataType dtype, const Dims& dims);

/// False when the node leaves this output out.
bool wants_output(const Invocation& call, std::size_t index);

/// An axis in [-rank, rank) as one in [0, rank); throws for any other.
std::int64_t normalized_axis(std::int64_t axis, std::int64_t rank);

/// The only element of an integer input of any rank.
std::int64_t integer_input(const Invocation& call, std::size_t index);

/// A dense array seen from one axis: `outer` blocks of `extent` slices of `inner` elements.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
AxisView view_along(const Dims& dims, std::int64_t axis);

}  // namespace ort_train::kernels
