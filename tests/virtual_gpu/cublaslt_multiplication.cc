// The arithmetic of cublasLtMatmul.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/dispatch.h"
#include "tests/virtual_gpu/cublaslt_product.h"

namespace virtual_gpu {

namespace {

/// Numbers of one kind, whatever the type in memory. T is the type of the arithmetic.
template <typename T>
T load(DataType type, const void* memory, std::int64_t index) {
  T value{};
  ort_train::dispatch_any_floating(type, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const Element& element = static_cast<const Element*>(memory)[index];
    if constexpr (std::is_floating_point_v<Element>) {
      value = static_cast<T>(element);
    } else {
      value = static_cast<T>(static_cast<float>(element));
    }
  });
  return value;
}

template <typename T>
void store(DataType type, void* memory, std::int64_t index, T value) {
  ort_train::dispatch_any_floating(type, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    Element& element = static_cast<Element*>(memory)[index];
    if constexpr (std::is_floating_point_v<Element>) {
      element = static_cast<Element>(value);
    } else {
      element = Element(static_cast<float>(value));
    }
  });
}

/// tanh of what GELU (its approximation by tanh) makes of x.
template <typename T>
T gelu_tanh(T x) {
  return std::tanh(std::sqrt(T(2) / std::numbers::pi_v<T>) * (x + T(0.044715) * x * x * x));
}

template <typename T>
T gelu(T x) {
  return T(0.5) * x * (1 + gelu_tanh(x));
}

template <typename T>
T gelu_slope(T x) {
  const T t = gelu_tanh(x);
  const T inner_slope = std::sqrt(T(2) / std::numbers::pi_v<T>) * (1 + T(3 * 0.044715) * x * x);
  return T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * inner_slope;
}

template <typename T>
class Multiplication {
 public:
  Multiplication(const Product& product, T alpha, T beta, const void* a, const void* b, const void* c, void* d)
      : product_(product), alpha_(alpha), beta_(beta), a_(a), b_(b), c_(c), d_(d) {}

  void run() {
    for (std::int64_t item = 0; item < product_.d.batch; ++item) {
      gather(item);
      multiply();
      finish(item);
    }
    if (product_.epilogue.bias_gradient_d) sum_result();
    if (product_.epilogue.bias_gradient_a) sum_rows();
    if (product_.epilogue.bias_gradient_b) sum_columns();
  }

 private:
  std::int64_t rows() const { return product_.d.rows; }
  std::int64_t columns() const { return product_.d.columns; }
  std::int64_t inner() const { return product_.inner(); }

  // op(A) by columns, op(B) by columns.
  void gather(std::int64_t item) {
    left_.resize(static_cast<std::size_t>(rows() * inner()));
    right_.resize(static_cast<std::size_t>(inner() * columns()));
    const Product& p = product_;
    for (std::int64_t k = 0; k < inner(); ++k) {
      for (std::int64_t i = 0; i < rows(); ++i) {
        left_[static_cast<std::size_t>(k * rows() + i)] =
            load<T>(p.a.type, a_, p.transpose_a ? p.a.at(item, k, i) : p.a.at(item, i, k));
      }
      for (std::int64_t j = 0; j < columns(); ++j) {
        right_[static_cast<std::size_t>(j * inner() + k)] =
            load<T>(p.b.type, b_, p.transpose_b ? p.b.at(item, j, k) : p.b.at(item, k, j));
      }
    }
  }

  void multiply() {
    result_.assign(static_cast<std::size_t>(rows() * columns()), T(0));
    for (std::int64_t j = 0; j < columns(); ++j) {
      T* column = &result_[static_cast<std::size_t>(j * rows())];
      for (std::int64_t k = 0; k < inner(); ++k) {
        const T factor = right_[static_cast<std::size_t>(j * inner() + k)];
        const T* other = &left_[static_cast<std::size_t>(k * rows())];
        for (std::int64_t i = 0; i < rows(); ++i) column[i] += factor * other[i];
      }
    }
  }

  void finish(std::int64_t item) {
    for (std::int64_t j = 0; j < columns(); ++j) {
      for (std::int64_t i = 0; i < rows(); ++i) {
        T& value = result_[static_cast<std::size_t>(j * rows() + i)];
        value *= alpha_;
        if (beta_ != 0) value += beta_ * load<T>(product_.c.type, c_, product_.c.at(item, i, j));
        value = after_epilogue(value, i, product_.auxiliary_at(item, i, j));
        store(product_.d.type, d_, product_.d.at(item, i, j), value);
      }
    }
  }

  T after_epilogue(T value, std::int64_t row, std::int64_t auxiliary) {
    const Epilogue& epilogue = product_.epilogue;
    if (epilogue.bias) value += load<T>(product_.bias_type, product_.bias, row);
    if (epilogue.writes_auxiliary) keep(value, auxiliary);
    if (epilogue.relu) return std::max(value, T(0));
    if (epilogue.gelu) return gelu(value);
    if (epilogue.relu_gradient) return bit(auxiliary) ? value : T(0);
    if (epilogue.gelu_gradient) return value * gelu_slope(load<T>(product_.d.type, product_.auxiliary, auxiliary));
    return value;
  }

  void keep(T value, std::int64_t auxiliary) {
    if (product_.epilogue.gelu) {
      store(product_.d.type, product_.auxiliary, auxiliary, value);
      return;
    }
    auto& byte = static_cast<unsigned char*>(product_.auxiliary)[auxiliary / 8];
    const auto mask = static_cast<unsigned char>(1U << (auxiliary % 8));
    byte = static_cast<unsigned char>(value > 0 ? byte | mask : byte & ~mask);
  }

  bool bit(std::int64_t auxiliary) const {
    return (static_cast<const unsigned char*>(product_.auxiliary)[auxiliary / 8] >> (auxiliary % 8) & 1U) != 0;
  }

  void sum_result() {
    for (std::int64_t i = 0; i < rows(); ++i) {
      T sum = 0;
      for (std::int64_t j = 0; j < columns(); ++j) sum += result_[static_cast<std::size_t>(j * rows() + i)];
      store(product_.bias_type, product_.bias, i, sum);
    }
  }

  void sum_rows() {
    for (std::int64_t i = 0; i < rows(); ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < inner(); ++k) sum += left_[static_cast<std::size_t>(k * rows() + i)];
      store(product_.bias_type, product_.bias, i, sum);
    }
  }

  void sum_columns() {
    for (std::int64_t j = 0; j < columns(); ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < inner(); ++k) sum += right_[static_cast<std::size_t>(j * inner() + k)];
      store(product_.bias_type, product_.bias, j, sum);
    }
  }

  const Product& product_;
  T alpha_, beta_;
  const void *a_, *b_, *c_;
  void* d_;
  std::vector<T> left_, right_, result_;
};

}  // namespace

void multiply(const Product& product, double alpha, double beta, const void* a, const void* b, const void* c, void* d) {
  if (product.in_double) {
    Multiplication<double>(product, alpha, beta, a, b, c, d).run();
  } else {
    Multiplication<float>(product, static_cast<float>(alpha), static_cast<float>(beta), a, b, c, d).run();
  }
}

}  // namespace virtual_gpu
