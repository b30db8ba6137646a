#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace ort_train::kernels {

/// Whether output `index` is asked for. An undefined one that the node does have is asked for, too: its extents were
/// not known before.
bool wants_output(const Invocation& call, std::size_t index);

/// Output `index`, ready to be written: the tensor that the caller made, which must have this type and these extents,
/// or a new one where the caller could not know the extents. Its elements are undefined; write all of them.
Tensor& output(Invocation& call, std::size_t index, DataType dtype, const Dims& dims);

/// Input `index` as integers, or `fallback` where it is left out.
std::vector<std::int64_t> integers_input(const Invocation& call, std::size_t index,
                                         std::vector<std::int64_t> fallback = {});

/// The only element of integer input `index`, or `fallback` where it is left out.
std::int64_t integer_input(const Invocation& call, std::size_t index, std::int64_t fallback);

/// Axis `axis` counted from the front; negative ones count from the end. Throws outside [-rank, rank).
std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank);

/// The same for a list, in which no axis may come twice.
std::vector<std::int64_t> normalize_axes(std::vector<std::int64_t> axes, std::int64_t rank);

/// 0, 1, ..., rank - 1.
std::vector<std::int64_t> all_axes(std::int64_t rank);

/// Element counts in front of, along, and behind one axis: a dense array seen as [outer, extent, inner].
struct AxisSplit {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
AxisSplit split_at_axis(const Dims& dims, std::int64_t axis);

/// `index` in [0, extent) from one in [-extent, extent); throws, naming both, outside of that.
std::int64_t checked_index(std::int64_t index, std::int64_t extent);

}  // namespace ort_train::kernels
