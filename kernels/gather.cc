#include <cstring>

#include "base/dispatch.h"
#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

std::vector<std::int64_t> checked_indices(const Tensor& indices, std::int64_t extent) {
  std::vector<std::int64_t> values = indices.to_int64s();
  for (std::int64_t& value : values) value = checked_index(value, extent);
  return values;
}

Dims gathered_dims(const Dims& dims, std::int64_t axis, const Dims& indices) {
  Dims out(dims.begin(), dims.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), dims.begin() + axis + 1, dims.end());
  return out;
}

void compute_gather(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const Tensor& indices = call.inputs[1];
  const std::int64_t axis = normalized_axis(call.node.integer("axis", 0), input.rank());
  const AxisView split = view_along(input.dims(), axis);
  Tensor& out = output(call, 0, input.dtype(), gathered_dims(input.dims(), axis, indices.dims()));
  const std::vector<std::int64_t> rows = checked_indices(indices, split.extent);
  const std::size_t block = static_cast<std::size_t>(split.inner) * size_of(input.dtype());
  std::byte* target = out.raw();
  for (std::int64_t i = 0; i < split.outer; ++i) {
    for (const std::int64_t row : rows) {
      std::memcpy(target, input.raw() + static_cast<std::size_t>(i * split.extent + row) * block, block);
      target += block;
    }
  }
}

// Sums are taken in the order of the indices and in the type of dY: a wider copy of an embedding table would cost more
// memory than the few bits are worth.
void compute_gather_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& indices = call.inputs[1];
  const Dims dims = call.node.integers("input_shape");
  const std::int64_t axis = normalized_axis(call.node.integer("axis", 0), static_cast<std::int64_t>(dims.size()));
  if (gradient.dims() != gathered_dims(dims, axis, indices.dims())) {
    fail("dY of shape ", to_string(gradient.dims()), " does not fit indices of shape ", to_string(indices.dims()),
         " into axis ", axis, " of ", to_string(dims));
  }
  const AxisView split = view_along(dims, axis);
  const std::vector<std::int64_t> rows = checked_indices(indices, split.extent);
  Tensor& out = output(call, 0, gradient.dtype(), dims);
  std::memset(out.raw(), 0, out.bytes());
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = gradient.data<T>();
    for (std::int64_t i = 0; i < split.outer; ++i) {
      for (const std::int64_t row : rows) {
        T* target = out.data<T>() + (i * split.extent + row) * split.inner;
        for (std::int64_t j = 0; j < split.inner; ++j) target[j] += source[j];
        source += split.inner;
      }
    }
  });
}

void compute_gather_elements(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const Tensor& indices = call.inputs[1];
  if (indices.rank() != input.rank()) {
    fail("indices of shape ", to_string(indices.dims()), " do not have the rank of ", to_string(input.dims()));
  }
  const auto axis = static_cast<std::size_t>(normalized_axis(call.node.integer("axis", 0), input.rank()));
  for (std::size_t i = 0; i < input.dims().size(); ++i) {
    if (i != axis && indices.dims()[i] > input.dims()[i]) {
      fail("indices of shape ", to_string(indices.dims()), " leave the input of shape ", to_string(input.dims()));
    }
  }
  Tensor& out = output(call, 0, input.dtype(), indices.dims());
  const std::vector<std::int64_t> positions = checked_indices(indices, input.dims()[axis]);
  const Dims strides = row_major_strides(input.dims());
  const std::size_t element_size = size_of(input.dtype());
  Dims index(indices.dims().size(), 0);
  for (std::size_t i = 0; i < positions.size(); ++i, advance(index, indices.dims())) {
    const std::int64_t source = offset_of(index, strides) + (positions[i] - index[axis]) * strides[axis];
    std::memcpy(out.raw() + i * element_size, input.raw() + static_cast<std::size_t>(source) * element_size,
                element_size);
  }
}

void compute_gather_nd(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const Tensor& indices = call.inputs[1];
  const auto batch_axes = static_cast<std::size_t>(call.node.integer("batch_dims", 0));
  if (indices.rank() < 1 || batch_axes >= indices.dims().size()) {
    fail("indices of shape ", to_string(indices.dims()), " do not fit ", batch_axes, " batch axes");
  }
  const auto length = static_cast<std::size_t>(indices.dims().back());
  if (batch_axes + length > input.dims().size()) {
    fail("index tuples of ", length, " numbers are too long for the shape ", to_string(input.dims()));
  }
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), input.dims().begin() + static_cast<std::ptrdiff_t>(batch_axes + length), input.dims().end());
  Tensor& out = output(call, 0, input.dtype(), dims);

  const Dims strides = row_major_strides(input.dims());
  const std::span<const std::int64_t> input_dims(input.dims());
  const std::int64_t block = element_count(input_dims.subspan(batch_axes + length));
  const std::int64_t batch_size = element_count(input_dims.subspan(batch_axes));
  const std::int64_t batches = element_count(input_dims.first(batch_axes));
  const std::vector<std::int64_t> numbers = indices.to_int64s();
  const std::int64_t tuples = element_count(std::span(indices.dims()).first(indices.dims().size() - 1));
  if (batches == 0 || tuples == 0) return;
  const std::int64_t tuples_per_batch = tuples / batches;
  const std::size_t block_bytes = static_cast<std::size_t>(block) * size_of(input.dtype());
  for (std::int64_t tuple = 0; tuple < tuples; ++tuple) {
    std::int64_t source = tuple / tuples_per_batch * batch_size;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t axis = batch_axes + i;
      source +=
          checked_index(numbers[static_cast<std::size_t>(tuple) * length + i], input.dims()[axis]) * strides[axis];
    }
    std::memcpy(out.raw() + static_cast<std::size_t>(tuple) * block_bytes,
                input.raw() + static_cast<std::size_t>(source) * size_of(input.dtype()), block_bytes);
  }
}

const Registration gather("Gather", compute_gather);
const Registration gather_elements("GatherElements", compute_gather_elements);
const Registration gather_nd("GatherND", compute_gather_nd);
const TrainingRegistration gather_grad("GatherGrad", compute_gather_grad);

}  // namespace

}  // namespace ort_train::kernels
