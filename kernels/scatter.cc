#include <cstring>

#include "kernels/elementwise.h"
#include "kernels/indexing.h"
#include "kernels/scatter_reduction.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

using Reduction = functors::ScatterReduction;

// target[i] = reduction(target[i], update[i]) for `count` elements that lie at these element offsets.
void apply(Reduction reduction, Tensor& target, std::int64_t target_offset, const Tensor& updates,
           std::int64_t update_offset, std::int64_t count) {
  if (reduction == Reduction::none) {
    const auto element_size = static_cast<std::int64_t>(size_of(target.dtype()));
    std::memcpy(target.raw() + target_offset * element_size, updates.raw() + update_offset * element_size,
                static_cast<std::size_t>(count * element_size));
    return;
  }
  dispatch(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = target.data<T>() + target_offset;
    const T* from = updates.data<T>() + update_offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = T(functors::reduced(reduction, load(to[i]), load(from[i])));
  });
}

Tensor& copied_input(Invocation& call) {
  const Tensor& input = call.inputs[0];
  Tensor& out = output(call, 0, input.dtype(), input.dims());
  if (out.raw() != input.raw()) std::memcpy(out.raw(), input.raw(), input.bytes());
  return out;
}

void compute_scatter_elements(Invocation& call) {
  const Tensor& indices = call.inputs[1];
  const Tensor& updates = call.inputs[2];
  const Reduction reduction = scatter_reduction(call.node);
  const auto axis = static_cast<std::size_t>(normalized_axis(call.node.integer("axis", 0), call.inputs[0].rank()));
  const Dims& dims = call.inputs[0].dims();
  if (indices.dims() != updates.dims() || indices.dims().size() != dims.size()) {
    fail("indices of shape ", to_string(indices.dims()), " and updates of shape ", to_string(updates.dims()),
         " do not fit the input of shape ", to_string(dims));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != axis && indices.dims()[i] > dims[i]) {
      fail("indices of shape ", to_string(indices.dims()), " leave the input of shape ", to_string(dims));
    }
  }
  Tensor& out = copied_input(call);
  const Dims strides = row_major_strides(dims);
  const std::vector<std::int64_t> positions = indices.to_int64s();
  Dims index(dims.size(), 0);
  for (std::size_t i = 0; i < positions.size(); ++i, advance(index, indices.dims())) {
    const std::int64_t position = checked_index(positions[i], dims[axis]);
    const std::int64_t target = offset_of(index, strides) + (position - index[axis]) * strides[axis];
    apply(reduction, out, target, updates, static_cast<std::int64_t>(i), 1);
  }
}

void compute_scatter_nd(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  const Tensor& indices = call.inputs[1];
  const Tensor& updates = call.inputs[2];
  const Reduction reduction = scatter_reduction(call.node);
  if (indices.rank() < 1 || indices.dims().back() > call.inputs[0].rank()) {
    fail("indices of shape ", to_string(indices.dims()), " do not fit the input of shape ", to_string(dims));
  }
  const auto length = static_cast<std::size_t>(indices.dims().back());
  Dims expected(indices.dims().begin(), indices.dims().end() - 1);
  const std::int64_t tuples = element_count(expected);
  expected.insert(expected.end(), dims.begin() + static_cast<std::ptrdiff_t>(length), dims.end());
  if (updates.dims() != expected) {
    fail("updates of shape ", to_string(updates.dims()), " should have the shape ", to_string(expected));
  }
  Tensor& out = copied_input(call);
  const Dims strides = row_major_strides(dims);
  const std::int64_t block = element_count(std::span(dims).subspan(length));
  const std::vector<std::int64_t> numbers = indices.to_int64s();
  for (std::int64_t tuple = 0; tuple < tuples; ++tuple) {
    std::int64_t target = 0;
    for (std::size_t i = 0; i < length; ++i) {
      target += checked_index(numbers[static_cast<std::size_t>(tuple) * length + i], dims[i]) * strides[i];
    }
    apply(reduction, out, target, updates, tuple * block, block);
  }
}

const Registration scatter_elements("ScatterElements", compute_scatter_elements);
const Registration scatter_nd("ScatterND", compute_scatter_nd);

}  // namespace

}  // namespace ort_train::kernels
