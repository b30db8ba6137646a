#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/matrix_product.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

// MatMul and Gemm are defined for these integers, too.
template <typename Function>
void dispatch_matrix(DataType type, Function&& function) {
  switch (type) {
    case DataType::int32: return function(TypeTag<std::int32_t>{});
    case DataType::int64: return function(TypeTag<std::int64_t>{});
    case DataType::uint32: return function(TypeTag<std::uint32_t>{});
    case DataType::uint64: return function(TypeTag<std::uint64_t>{});
    default: dispatch_floating(type, function);
  }
}

// Strides of an operand's batch axes in the broadcast batch: 0 where it is repeated.
Dims batch_strides(const Dims& operand_batch, const Dims& batch, std::int64_t matrix_size) {
  Dims strides(batch.size(), 0);
  const std::size_t missing = batch.size() - operand_batch.size();
  std::int64_t step = matrix_size;
  for (std::size_t axis = operand_batch.size(); axis-- > 0;) {
    if (operand_batch[axis] != 1) strides[missing + axis] = step;
    step *= operand_batch[axis];
  }
  return strides;
}

// Numpy's matmul: a vector on the left is a row, on the right a column, and that axis is missing in the result.
void compute_matmul(Invocation& call) {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  if (a.rank() == 0 || b.rank() == 0) fail("a scalar is no matrix");
  Dims a_dims = a.dims(), b_dims = b.dims();
  if (a.rank() == 1) a_dims.insert(a_dims.begin(), 1);
  if (b.rank() == 1) b_dims.push_back(1);
  const std::int64_t m = a_dims[a_dims.size() - 2], k = a_dims.back(), n = b_dims.back();
  if (b_dims[b_dims.size() - 2] != k) {
    fail("matrices of the shapes ", to_string(a.dims()), " and ", to_string(b.dims()), " cannot be multiplied");
  }
  const Dims a_batch(a_dims.begin(), a_dims.end() - 2), b_batch(b_dims.begin(), b_dims.end() - 2);
  const Dims batch = broadcast_dims(a_batch, b_batch);
  Dims dims = batch;
  if (a.rank() > 1) dims.push_back(m);
  if (b.rank() > 1) dims.push_back(n);
  Tensor& y = output(call, 0, a.dtype(), dims);
  if (y.size() == 0) return;

  const Dims a_strides = batch_strides(a_batch, batch, m * k), b_strides = batch_strides(b_batch, batch, k * n);
  dispatch_matrix(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* result = y.data<T>();
    Dims index(batch.size(), 0);
    do {
      multiply<T>({a.data<T>() + offset_of(index, a_strides), k, 1}, {b.data<T>() + offset_of(index, b_strides), n, 1},
                  m, k, n, [&](std::int64_t row, std::int64_t column, Accumulator<T> sum) {
                    result[row * n + column] = static_cast<T>(sum);
                  });
      result += m * n;
    } while (advance(index, batch));
  });
}

// C broadcasts to Y in one direction only: [N], [M,1], [1,N], [M,N], [1] or a scalar.
Dims bias_strides(const Dims& dims, std::int64_t m, std::int64_t n) {
  Dims padded = dims;
  if (padded.size() > 2) fail("C of shape ", to_string(dims), " is no matrix");
  padded.insert(padded.begin(), 2 - padded.size(), 1);
  if ((padded[0] != 1 && padded[0] != m) || (padded[1] != 1 && padded[1] != n)) {
    fail("C of shape ", to_string(dims), " does not broadcast to [", m, ",", n, "]");
  }
  return {padded[0] == 1 ? 0 : padded[1], padded[1] == 1 ? 0 : 1};
}

// Y = alpha * A' * B' + beta * C.
void compute_gemm(Invocation& call) {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  if (a.rank() != 2 || b.rank() != 2) {
    fail("A of shape ", to_string(a.dims()), " and B of shape ", to_string(b.dims()), " must be matrices");
  }
  const bool transpose_a = call.node.integer("transA", 0) != 0, transpose_b = call.node.integer("transB", 0) != 0;
  const std::int64_t m = a.dims()[transpose_a ? 1 : 0], k = a.dims()[transpose_a ? 0 : 1];
  const std::int64_t n = b.dims()[transpose_b ? 0 : 1];
  if (b.dims()[transpose_b ? 1 : 0] != k) {
    fail("A of shape ", to_string(a.dims()), " and B of shape ", to_string(b.dims()), " cannot be multiplied");
  }
  const bool biased = call.has_input(2);
  const Dims c_strides = biased ? bias_strides(call.inputs[2].dims(), m, n) : Dims{0, 0};
  const auto alpha = static_cast<double>(call.node.real("alpha", 1.0f));
  const auto beta = static_cast<double>(call.node.real("beta", 1.0f));
  Tensor& y = output(call, 0, a.dtype(), {m, n});
  dispatch_matrix(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Sum = Accumulator<T>;
    const T* c = biased ? call.inputs[2].data<T>() : nullptr;
    T* result = y.data<T>();
    const MatrixView<T> left{a.data<T>(), transpose_a ? 1 : k, transpose_a ? m : 1};
    const MatrixView<T> right{b.data<T>(), transpose_b ? 1 : n, transpose_b ? k : 1};
    multiply<T>(left, right, m, k, n, [&](std::int64_t row, std::int64_t column, Sum sum) {
      Sum value = static_cast<Sum>(alpha) * sum;
      if (c != nullptr)
        value += static_cast<Sum>(beta) * static_cast<Sum>(c[row * c_strides[0] + column * c_strides[1]]);
      result[row * n + column] = static_cast<T>(value);
    });
  });
}

const Registration matmul("MatMul", compute_matmul);
const Registration gemm("Gemm", compute_gemm);

}  // namespace

}  // namespace ort_train::kernels
