#include <algorithm>
#include <cstring>

#include "base/dispatch.h"
#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

constexpr std::int64_t outside = -1;

// Where the elements of one padded axis come from: an input position each, or `outside`. A negative pad first cuts the
// input off; the other side then repeats what is left.
std::vector<std::int64_t> sources(const std::string& mode, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = std::max<std::int64_t>(0, -begin);
  const std::int64_t left = extent - first - std::max<std::int64_t>(0, -end);
  const std::int64_t padded = extent + begin + end;
  if (padded < 0 || left < 0) fail("pads of ", begin, " and ", end, " cut more than the ", extent, " elements off");
  if (left == 0 && padded > 0 && mode != "constant") fail("there is nothing to pad with in an empty axis");
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < padded; ++i) {
    std::int64_t position = i - std::max<std::int64_t>(0, begin);
    if (mode == "constant") {
      position = position >= 0 && position < left ? position : outside;
    } else if (mode == "edge") {
      position = std::clamp<std::int64_t>(position, 0, left - 1);
    } else if (mode == "wrap") {
      position = ((position % left) + left) % left;
    } else if (mode == "reflect") {
      const std::int64_t period = std::max<std::int64_t>(1, 2 * (left - 1));
      position = ((position % period) + period) % period;
      position = std::min(position, period - position);
      if (left == 1) position = 0;
    } else {
      fail("the mode '", mode, "' is none of constant, reflect, edge and wrap");
    }
    result.push_back(position == outside ? outside : position + first);
  }
  return result;
}

using SourceTable = std::vector<std::vector<std::int64_t>>;

// `pads` holds the begins of `axes`, then their ends.
SourceTable source_table(const std::string& mode, const Dims& dims, const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& axes) {
  if (pads.size() != 2 * axes.size()) fail("there are ", pads.size(), " pads for ", axes.size(), " axes");
  SourceTable table;
  for (const std::int64_t extent : dims) table.push_back(sources("constant", extent, 0, 0));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    table[axis] = sources(mode, dims[axis], pads[i], pads[i + axes.size()]);
  }
  return table;
}

Dims padded_dims(const SourceTable& table) {
  Dims dims;
  for (const auto& axis : table) dims.push_back(static_cast<std::int64_t>(axis.size()));
  return dims;
}

// Calls visit(position in the padded array, position in the input or `outside`) for every padded element, in order.
template <typename Visit>
void for_each_source(const SourceTable& table, const Dims& input_dims, Visit&& visit) {
  const Dims dims = padded_dims(table);
  if (element_count(dims) == 0) return;
  const Dims strides = row_major_strides(input_dims);
  Dims index(dims.size(), 0);
  std::int64_t position = 0;
  do {
    std::int64_t source = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::int64_t along = table[axis][static_cast<std::size_t>(index[axis])];
      if (along == outside) {
        source = outside;
        break;
      }
      source += along * strides[axis];
    }
    visit(position++, source);
  } while (advance(index, dims));
}

void compute_pad(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<std::int64_t> axes = normalized_axes(integers_input(call, 3, all_axes(input.rank())), input.rank());
  const SourceTable table =
      source_table(call.node.string("mode", "constant"), input.dims(), integers_input(call, 1), axes);
  Tensor& out = output(call, 0, input.dtype(), padded_dims(table));
  const std::size_t element_size = size_of(input.dtype());
  const Tensor zero(input.dtype(), {});
  const Tensor& filler = call.has_input(2) ? call.inputs[2] : zero;
  if (filler.dtype() != input.dtype() || filler.size() != 1)
    fail("the padding value must be one ", name_of(input.dtype()));
  for_each_source(table, input.dims(), [&](std::int64_t position, std::int64_t source) {
    const std::byte* from =
        source == outside ? filler.raw() : input.raw() + static_cast<std::size_t>(source) * element_size;
    std::memcpy(out.raw() + static_cast<std::size_t>(position) * element_size, from, element_size);
  });
}

void compute_pad_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Dims dims = call.node.integers("input_shape");
  const SourceTable table = source_table(call.node.string("mode", "constant"), dims, call.node.integers("pads"),
                                         all_axes(static_cast<std::int64_t>(dims.size())));
  if (gradient.dims() != padded_dims(table)) {
    fail("dY of shape ", to_string(gradient.dims()), " should have the shape ", to_string(padded_dims(table)));
  }
  Tensor& out = output(call, 0, gradient.dtype(), dims);
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<double> sums(static_cast<std::size_t>(out.size()), 0.0);
    const T* from = gradient.data<T>();
    for_each_source(table, dims, [&](std::int64_t position, std::int64_t source) {
      if (source != outside) sums[static_cast<std::size_t>(source)] += static_cast<double>(from[position]);
    });
    T* to = out.data<T>();
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = static_cast<T>(sums[i]);
  });
}

const Registration pad("Pad", compute_pad);
const TrainingRegistration pad_grad("PadGrad", compute_pad_grad);

}  // namespace

}  // namespace ort_train::kernels
