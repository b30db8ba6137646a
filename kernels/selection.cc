#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/dispatch.h"
#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

void compute_non_zero(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<double> values = input.to_doubles();  // no conversion turns a number into 0
  std::vector<Dims> found;
  Dims index(input.dims().size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i, advance(index, input.dims())) {
    if (values[i] != 0) found.push_back(index);
  }
  const auto count = static_cast<std::int64_t>(found.size());
  std::int64_t* out = output(call, 0, DataType::int64, {input.rank(), count}).data<std::int64_t>();
  for (std::size_t axis = 0; axis < input.dims().size(); ++axis) {
    for (const Dims& position : found) *out++ = position[axis];
  }
}

void compute_compress(Invocation& call) {
  const bool flat = !call.node.has("axis");
  const Tensor input = flat ? call.inputs[0].reshaped({call.inputs[0].size()}) : call.inputs[0];
  const std::int64_t axis = flat ? 0 : normalized_axis(call.node.integer("axis", 0), input.rank());
  const AxisView split = view_along(input.dims(), axis);
  const auto condition = call.inputs[1].values<bool>();
  if (static_cast<std::int64_t>(condition.size()) > split.extent) {
    fail("there are ", condition.size(), " conditions for ", split.extent, " slices");
  }
  Dims dims = input.dims();
  dims[static_cast<std::size_t>(axis)] = std::count(condition.begin(), condition.end(), true);
  Tensor& out = output(call, 0, input.dtype(), dims);
  const std::size_t block = static_cast<std::size_t>(split.inner) * size_of(input.dtype());
  std::byte* target = out.raw();
  for (std::int64_t i = 0; i < split.outer; ++i) {
    for (std::size_t k = 0; k < condition.size(); ++k) {
      if (!condition[k]) continue;
      std::memcpy(target, input.raw() + (static_cast<std::size_t>(i * split.extent) + k) * block, block);
      target += block;
    }
  }
}

// The slices of an array along an axis, each made contiguous: [extent, outer * inner].
Tensor slices_of(const Tensor& input, std::int64_t axis) {
  const AxisView split = view_along(input.dims(), axis);
  const Dims dims{split.extent, split.outer, split.inner};
  Tensor slices(input.dtype(), {split.extent, split.outer * split.inner});
  gather_strided(dims, input.raw(), {split.inner, split.extent * split.inner, 1}, slices.raw(), size_of(input.dtype()));
  return slices;
}

// Groups of equal slices. Position in the result first, then how often and where first.
struct Groups {
  std::vector<std::int64_t> first, counts, group_of_slice;
};

template <typename T>
int compare(const T* a, const T* b, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      const auto x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
      if (x != y) return x < y ? -1 : 1;
    } else {
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

template <typename T>
Groups group_equal(const T* slices, std::int64_t count, std::int64_t length, bool sorted) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return compare(slices + a * length, slices + b * length, length) < 0;
  });
  // Runs of equal slices; stable sorting leaves the first occurrence in front.
  std::vector<std::vector<std::int64_t>> runs;
  for (const std::int64_t slice : order) {
    const bool starts_run =
        runs.empty() || compare(slices + runs.back()[0] * length, slices + slice * length, length) != 0;
    if (starts_run) runs.emplace_back();
    runs.back().push_back(slice);
  }
  if (!sorted) std::sort(runs.begin(), runs.end());
  Groups groups;
  groups.group_of_slice.resize(order.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    groups.first.push_back(runs[run][0]);
    groups.counts.push_back(static_cast<std::int64_t>(runs[run].size()));
    for (const std::int64_t slice : runs[run]) {
      groups.group_of_slice[static_cast<std::size_t>(slice)] = static_cast<std::int64_t>(run);
    }
  }
  return groups;
}

void write_indices(Invocation& call, std::size_t index, const std::vector<std::int64_t>& values) {
  if (!wants_output(call, index)) return;
  Tensor& out = output(call, index, DataType::int64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), out.data<std::int64_t>());
}

void compute_unique(Invocation& call) {
  const bool flat = !call.node.has("axis");
  const Tensor input = flat ? call.inputs[0].reshaped({call.inputs[0].size()}) : call.inputs[0];
  const std::int64_t axis = flat ? 0 : normalized_axis(call.node.integer("axis", 0), input.rank());
  const Tensor slices = slices_of(input, axis);
  const std::int64_t length = slices.dims()[1];
  const bool sorted = call.node.integer("sorted", 1) != 0;
  const Groups groups = dispatch(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return group_equal(slices.data<T>(), slices.dims()[0], length, sorted);
  });

  Dims dims = input.dims();
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(groups.first.size());
  const AxisView split = view_along(dims, axis);
  Tensor& out = output(call, 0, input.dtype(), dims);
  const auto element_size = static_cast<std::int64_t>(size_of(input.dtype()));
  for (std::int64_t group = 0; group < split.extent; ++group) {
    const std::int64_t slice = groups.first[static_cast<std::size_t>(group)];
    copy_strided({split.outer, split.inner}, slices.raw() + slice * length * element_size, {split.inner, 1},
                 out.raw() + group * split.inner * element_size, {split.extent * split.inner, 1},
                 static_cast<std::size_t>(element_size));
  }
  write_indices(call, 1, groups.first);
  write_indices(call, 2, groups.group_of_slice);
  write_indices(call, 3, groups.counts);
}

const Registration non_zero("NonZero", compute_non_zero);
const Registration compress("Compress", compute_compress);
const Registration unique("Unique", compute_unique);

}  // namespace

}  // namespace ort_train::kernels
