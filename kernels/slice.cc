#include <cstring>

#include "kernels/slice_window.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

void compute_slice(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<std::int64_t> starts = integers_input(call, 1);
  const std::vector<std::int64_t> axes = integers_input(call, 3, all_axes(static_cast<std::int64_t>(starts.size())));
  const std::vector<std::int64_t> steps = integers_input(call, 4, std::vector<std::int64_t>(starts.size(), 1));
  const SliceWindow window =
      slice_window(input.dims(), starts, integers_input(call, 2), normalized_axes(axes, input.rank()), steps);
  Tensor& out = output(call, 0, input.dtype(), window.extents);
  if (out.size() == 0) return;
  const Dims strides = row_major_strides(input.dims());
  const std::size_t element_size = size_of(input.dtype());
  const std::byte* source = input.raw() + first_element(window, strides) * static_cast<std::int64_t>(element_size);
  gather_strided(window.extents, source, stepped_strides(window, strides), out.raw(), element_size);
}

void compute_slice_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Dims dims = call.node.integers("input_shape");
  const SliceWindow window = slice_gradient_window(call.node, gradient.dims());
  Tensor& out = output(call, 0, gradient.dtype(), dims);
  std::memset(out.raw(), 0, out.bytes());
  if (gradient.size() == 0) return;
  const Dims strides = row_major_strides(dims);
  const std::size_t element_size = size_of(gradient.dtype());
  std::byte* target = out.raw() + first_element(window, strides) * static_cast<std::int64_t>(element_size);
  copy_strided(gradient.dims(), gradient.raw(), row_major_strides(gradient.dims()), target,
               stepped_strides(window, strides), element_size);
}

const Registration slice("Slice", compute_slice);
const TrainingRegistration slice_grad("SliceGrad", compute_slice_grad);

}  // namespace

}  // namespace ort_train::kernels
