#include <cstring>

#include "base/dispatch.h"
#include "kernels/padding.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

using functors::PaddedAxis;
using Axes = std::vector<PaddedAxis>;

constexpr std::int64_t outside = PaddedAxis::outside;

// Calls visit(position in the padded array, position in the input or `outside`) for every padded element, in order.
template <typename Visit>
void for_each_source(const Axes& axes, const Dims& input_dims, Visit&& visit) {
  const Dims dims = padded_dims(axes);
  if (element_count(dims) == 0) return;
  const Dims strides = row_major_strides(input_dims);
  Dims index(dims.size(), 0);
  std::int64_t position = 0;
  do {
    std::int64_t source = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::int64_t along = axes[axis].source(index[axis]);
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
  const Axes axes = padded_axes(call.node.string("mode", "constant"), input.dims(), integers_input(call, 1),
                                normalized_axes(integers_input(call, 3, all_axes(input.rank())), input.rank()));
  Tensor& out = output(call, 0, input.dtype(), padded_dims(axes));
  const std::size_t element_size = size_of(input.dtype());
  const Tensor zero(input.dtype(), {});
  const Tensor& filler = call.has_input(2) ? call.inputs[2] : zero;
  if (filler.dtype() != input.dtype() || filler.size() != 1)
    fail("the padding value must be one ", name_of(input.dtype()));
  for_each_source(axes, input.dims(), [&](std::int64_t position, std::int64_t source) {
    const std::byte* from =
        source == outside ? filler.raw() : input.raw() + static_cast<std::size_t>(source) * element_size;
    std::memcpy(out.raw() + static_cast<std::size_t>(position) * element_size, from, element_size);
  });
}

void compute_pad_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Dims dims = call.node.integers("input_shape");
  const Axes axes = padded_axes(call.node.string("mode", "constant"), dims, call.node.integers("pads"),
                                all_axes(static_cast<std::int64_t>(dims.size())));
  if (gradient.dims() != padded_dims(axes)) {
    fail("dY of shape ", to_string(gradient.dims()), " should have the shape ", to_string(padded_dims(axes)));
  }
  Tensor& out = output(call, 0, gradient.dtype(), dims);
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<double> sums(static_cast<std::size_t>(out.size()), 0.0);
    const T* from = gradient.data<T>();
    for_each_source(axes, dims, [&](std::int64_t position, std::int64_t source) {
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
