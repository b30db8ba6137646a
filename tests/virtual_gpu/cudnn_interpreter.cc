#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

template <typename T>
void compute_matrix_product(Operands<T>& operands, const CudnnNode& node) {
  const int a_id = node.input(Role::a), b_id = node.input(Role::b), out_id = node.output(Role::out);
  const Extents& dims = operands.tensor(out_id).dims;
  const std::size_t rank = dims.size();
  const std::int64_t rows = dims[rank - 2], columns = dims[rank - 1], depth = operands.tensor(a_id).dims[rank - 1];
  Extents a_dims = dims, b_dims = dims;
  a_dims[rank - 1] = depth;
  b_dims[rank - 2] = depth;
  const std::vector<T> a = operands.load(a_id, &a_dims);
  const std::vector<T> b = operands.load(b_id, &b_dims);
  std::vector<T> out(static_cast<std::size_t>(operands.tensor(out_id).elements()), T{});
  const std::int64_t all_rows = operands.tensor(out_id).elements() / columns;
  for (std::int64_t row = 0; row < all_rows; ++row) {
    T* __restrict to = &out[static_cast<std::size_t>(row * columns)];
    for (std::int64_t k = 0; k < depth; ++k) {
      const T factor = a[static_cast<std::size_t>(row * depth + k)];
      const T* __restrict from = &b[static_cast<std::size_t>((row / rows * depth + k) * columns)];
      for (std::int64_t c = 0; c < columns; ++c) to[c] += factor * from[c];
    }
  }
  operands.store(out_id, out);
}

double start_of(int mode) {
  switch (mode) {
    case CUDNN_REDUCE_TENSOR_MUL: return 1;
    case CUDNN_REDUCE_TENSOR_MAX: return -std::numeric_limits<double>::infinity();
    case CUDNN_REDUCE_TENSOR_MIN: return std::numeric_limits<double>::infinity();
    default: return 0;
  }
}

void accumulate(int mode, double& sum, double value) {
  switch (mode) {
    case CUDNN_REDUCE_TENSOR_ADD: sum += value; return;
    case CUDNN_REDUCE_TENSOR_MUL: sum *= value; return;
    case CUDNN_REDUCE_TENSOR_MAX: sum = std::max(sum, value); return;
    case CUDNN_REDUCE_TENSOR_MIN: sum = std::min(sum, value); return;
    case CUDNN_REDUCE_TENSOR_NORM1: sum += std::abs(value); return;
    case CUDNN_REDUCE_TENSOR_AMAX: sum = std::max(sum, std::abs(value)); return;
    case CUDNN_REDUCE_TENSOR_NORM2: sum += value * value; return;
    default: throw std::runtime_error("reduction " + std::to_string(mode) + " is not computed on virtual GPUs");
  }
}

template <typename T>
void compute_reduction(Operands<T>& operands, const CudnnNode& node) {
  const CudnnTensor& from = operands.tensor(node.input(Role::x));
  const CudnnTensor& to = operands.tensor(node.output(Role::y));
  const std::vector<T> x = operands.load(node.input(Role::x));
  Extents strides(to.dims.size());
  std::int64_t step = 1;
  for (std::size_t axis = to.dims.size(); axis-- > 0;) {
    strides[axis] = to.dims[axis] == 1 ? 0 : step;
    step *= to.dims[axis];
  }
  std::vector<double> sums(static_cast<std::size_t>(to.elements()), start_of(node.mode));
  for_each_row(from.dims, strides, [&](std::int64_t position, std::int64_t offset) {
    for (std::int64_t i = 0; i < from.dims.back(); ++i) {
      accumulate(node.mode, sums[static_cast<std::size_t>(offset + i * strides.back())],
                 x[static_cast<std::size_t>(position + i)]);
    }
  });
  std::vector<T> y(sums.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<T>(node.mode == CUDNN_REDUCE_TENSOR_NORM2 ? std::sqrt(sums[i]) : sums[i]);
  }
  operands.store(node.output(Role::y), y);
}

/// `visit(position in row-major order, place in memory)` for all elements, as the strides are declared.
template <typename Visit>
void for_each_place(const CudnnTensor& tensor, const Visit& visit) {
  for_each_row(tensor.dims, tensor.strides, [&](std::int64_t position, std::int64_t offset) {
    for (std::int64_t i = 0; i < tensor.dims.back(); ++i) {
      visit(static_cast<std::size_t>(position + i), static_cast<std::size_t>(offset + i * tensor.strides.back()));
    }
  });
}

/// Another view of the same places in memory, perhaps in another type.
template <typename T>
void compute_reshape(Operands<T>& operands, const CudnnNode& node) {
  const CudnnTensor& from = operands.tensor(node.input(Role::x));
  const CudnnTensor& to = operands.tensor(node.output(Role::y));
  if (from.span() != to.span()) throw std::runtime_error("a reshape that is no view of the same memory");
  const std::vector<T> x = operands.load(node.input(Role::x));
  std::vector<T> places(static_cast<std::size_t>(from.span())), y(static_cast<std::size_t>(to.elements()));
  for_each_place(from, [&](std::size_t position, std::size_t place) { places[place] = x[position]; });
  for_each_place(to, [&](std::size_t position, std::size_t place) { y[position] = places[place]; });
  operands.store(node.output(Role::y), y);
}

template <typename T>
void compute_all(const CudnnProgram& program, const std::vector<void*>& memory) {
  Operands<T> operands(program, memory);
  for (const CudnnNode& node : program.nodes) {
    switch (node.type) {
      case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: compute_pointwise(operands, node); break;
      case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: compute_reduction(operands, node); break;
      case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: compute_matrix_product(operands, node); break;
      case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: compute_reshape(operands, node); break;
      case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR: compute_normalization(operands, node); break;
      case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
      case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR: compute_pooling(operands, node); break;
      default: compute_convolution(operands, node);
    }
  }
}

}  // namespace

void compute(const CudnnProgram& program, const std::vector<void*>& memory) {
  if (program.double_precision) return compute_all<double>(program, memory);
  compute_all<float>(program, memory);
}

}  // namespace virtual_gpu
