#include <algorithm>
#include <cmath>

#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

template <typename T>
T logistic(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

/// The standard normal distribution and its density.
template <typename T>
T normal(T x) {
  return T{0.5} * (T{1} + std::erf(x * T{0.70710678118654752440}));
}
template <typename T>
T normal_density(T x) {
  return std::exp(T{-0.5} * x * x) * T{0.39894228040143267794};
}

/// The argument of the hyperbolic tangent in the approximation of gelu, and its derivative.
template <typename T>
T gelu_inner(T x) {
  return T{0.79788456080286535588} * (x + T{0.044715} * x * x * x);
}
template <typename T>
T gelu_inner_slope(T x) {
  return T{0.79788456080286535588} * (T{1} + T{3} * T{0.044715} * x * x);
}

template <typename T>
T relu(const CudnnNode& n, T x) {
  const T low = static_cast<T>(n.lower), high = static_cast<T>(n.upper), slope = static_cast<T>(n.lower_slope);
  return x < low ? low + slope * (x - low) : std::min(x, high);
}

template <typename T>
T relu_slope(const CudnnNode& n, T x) {
  if (x > static_cast<T>(n.upper)) return T{};
  return x > static_cast<T>(n.lower) ? T{1} : static_cast<T>(n.lower_slope);
}

template <typename T>
T one_operand(const CudnnNode& n, T x) {
  const T p = static_cast<T>(n.parameter);
  switch (n.mode) {
    case CUDNN_POINTWISE_IDENTITY: return x;
    case CUDNN_POINTWISE_ABS: return std::abs(x);
    case CUDNN_POINTWISE_NEG: return -x;
    case CUDNN_POINTWISE_RECIPROCAL: return T{1} / x;
    case CUDNN_POINTWISE_SQRT: return std::sqrt(x);
    case CUDNN_POINTWISE_RSQRT: return T{1} / std::sqrt(x);
    case CUDNN_POINTWISE_EXP: return std::exp(x);
    case CUDNN_POINTWISE_LOG: return std::log(x);
    case CUDNN_POINTWISE_ERF: return std::erf(x);
    case CUDNN_POINTWISE_RELU_FWD: return relu(n, x);
    case CUDNN_POINTWISE_SIGMOID_FWD: return logistic(x);
    case CUDNN_POINTWISE_TANH_FWD: return std::tanh(x);
    case CUDNN_POINTWISE_ELU_FWD: return x > T{} ? x : p * std::expm1(x);
    case CUDNN_POINTWISE_SOFTPLUS_FWD: return (std::max(p * x, T{}) + std::log1p(std::exp(-std::abs(p * x)))) / p;
    case CUDNN_POINTWISE_SWISH_FWD: return x * logistic(p * x);
    case CUDNN_POINTWISE_GELU_FWD: return x * normal(x);
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD: return T{0.5} * x * (T{1} + std::tanh(gelu_inner(x)));
    default: throw std::runtime_error("pointwise mode " + std::to_string(n.mode) + " is not computed on virtual GPUs");
  }
}

template <typename T>
T two_operands(const CudnnNode& n, T a, T b) {
  const T p = static_cast<T>(n.parameter);
  switch (n.mode) {
    case CUDNN_POINTWISE_ADD: return a + b;
    case CUDNN_POINTWISE_SUB: return a - b;
    case CUDNN_POINTWISE_MUL: return a * b;
    case CUDNN_POINTWISE_DIV: return a / b;
    case CUDNN_POINTWISE_MAX: return std::max(a, b);
    case CUDNN_POINTWISE_MIN: return std::min(a, b);
    case CUDNN_POINTWISE_POW: return std::pow(a, b);
    case CUDNN_POINTWISE_CMP_GT: return a > b;
    case CUDNN_POINTWISE_CMP_GE: return a >= b;
    case CUDNN_POINTWISE_CMP_LT: return a < b;
    case CUDNN_POINTWISE_CMP_LE: return a <= b;
    case CUDNN_POINTWISE_CMP_EQ: return a == b;
    case CUDNN_POINTWISE_CMP_NEQ: return a != b;
    case CUDNN_POINTWISE_LOGICAL_AND: return a != T{} && b != T{};
    case CUDNN_POINTWISE_LOGICAL_OR: return a != T{} || b != T{};
    // Gradients: a is that of the output, b the input of the forward operation.
    case CUDNN_POINTWISE_RELU_BWD: return a * relu_slope(n, b);
    case CUDNN_POINTWISE_SIGMOID_BWD: return a * logistic(b) * (T{1} - logistic(b));
    case CUDNN_POINTWISE_TANH_BWD: return a * (T{1} - std::tanh(b) * std::tanh(b));
    case CUDNN_POINTWISE_ELU_BWD: return b > T{} ? a : a * p * std::exp(b);
    case CUDNN_POINTWISE_SOFTPLUS_BWD: return a * logistic(p * b);
    case CUDNN_POINTWISE_SWISH_BWD: return a * (logistic(p * b) + p * b * logistic(p * b) * (T{1} - logistic(p * b)));
    case CUDNN_POINTWISE_GELU_BWD: return a * (normal(b) + b * normal_density(b));
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: {
      const T t = std::tanh(gelu_inner(b));
      return a * T{0.5} * (T{1} + t + b * (T{1} - t * t) * gelu_inner_slope(b));
    }
    default: throw std::runtime_error("pointwise mode " + std::to_string(n.mode) + " is not computed on virtual GPUs");
  }
}

/// The place along an axis, for every element.
template <typename T>
std::vector<T> places(const Extents& dims, std::int64_t axis) {
  std::int64_t inner = 1, count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    count *= dims[i];
    if (static_cast<std::int64_t>(i) > axis) inner *= dims[i];
  }
  std::vector<T> result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    result[static_cast<std::size_t>(i)] = static_cast<T>(i / inner % dims[static_cast<std::size_t>(axis)]);
  }
  return result;
}

template <typename T>
void scale(std::vector<T>& values, double factor) {
  if (factor == 1) return;
  for (T& value : values) value *= static_cast<T>(factor);
}

}  // namespace

template <typename T>
void compute_pointwise(Operands<T>& operands, const CudnnNode& node) {
  const int out = node.output(Role::out);
  const Extents& dims = operands.tensor(out).dims;
  if (node.mode == CUDNN_POINTWISE_GEN_INDEX) return operands.store(out, places<T>(dims, node.axis));
  std::vector<T> a = operands.load(node.input(Role::a), &dims);
  scale(a, node.alpha1);
  if (node.inputs.count(Role::b) == 0) {
    for (T& value : a) value = one_operand(node, value);
    return operands.store(out, a);
  }
  std::vector<T> b = operands.load(node.input(Role::b), &dims);
  scale(b, node.alpha2);
  if (node.mode == CUDNN_POINTWISE_BINARY_SELECT) {
    const std::vector<T> chooser = operands.load(node.input(Role::c), &dims);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = chooser[i] != T{} ? a[i] : b[i];
  } else {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = two_operands(node, a[i], b[i]);
  }
  operands.store(out, a);
}

template void compute_pointwise(Operands<float>&, const CudnnNode&);
template void compute_pointwise(Operands<double>&, const CudnnNode&);

}  // namespace virtual_gpu
