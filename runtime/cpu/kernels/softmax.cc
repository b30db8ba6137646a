// Softmax, LogSoftmax and their gradients along the last axis, float32, row-major.
#include <cmath>
#include <limits>

#include "kernels/parallel.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernels/exponential.h"
#include "runtime/cpu/vector.h"

namespace ort_train::runtime::cpu {

namespace {

// Sums are kept in as many parts as one vector register has, so that they vectorize and round alike everywhere.
constexpr std::int64_t parts = 16;

template <typename Term>
inline float sum_in_parts(std::int64_t count, const Term& term) {
  float sums[parts] = {};
  std::int64_t i = 0;
  for (; i + parts <= count; i += parts) {
    for (std::int64_t p = 0; p < parts; ++p) sums[p] += term(i + p);
  }
  for (; i < count; ++i) sums[0] += term(i);
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

inline float largest_of(const float* x, std::int64_t count) {
  float best[parts];
  for (float& value : best) value = -std::numeric_limits<float>::infinity();
  std::int64_t i = 0;
  for (; i + parts <= count; i += parts) {
    for (std::int64_t p = 0; p < parts; ++p) best[p] = x[i + p] > best[p] ? x[i + p] : best[p];
  }
  for (; i < count; ++i) best[0] = x[i] > best[0] ? x[i] : best[0];
  float largest = best[0];
  for (const float value : best) largest = value > largest ? value : largest;
  return largest;
}

// `y` may be `x`. A NaN spreads over its whole row by the sum.
ORT_TRAIN_VECTORIZED void softmax_row(const float* x, float* y, std::int64_t count) {
  const float largest = largest_of(x, count);
  for (std::int64_t i = 0; i < count; ++i) y[i] = exponential(x[i] - largest);
  const float share = 1.0f / sum_in_parts(count, [&](std::int64_t i) { return y[i]; });
  for (std::int64_t i = 0; i < count; ++i) y[i] *= share;
}

ORT_TRAIN_VECTORIZED void log_softmax_row(const float* x, float* y, std::int64_t count) {
  const float largest = largest_of(x, count);
  const float logarithm = std::log(sum_in_parts(count, [&](std::int64_t i) { return exponential(x[i] - largest); }));
  for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - largest) - logarithm;
}

// dx = y * (dy - sum(dy * y))
ORT_TRAIN_VECTORIZED void softmax_gradient_row(const float* dy, const float* y, float* dx, std::int64_t count) {
  const float sum = sum_in_parts(count, [&](std::int64_t i) { return dy[i] * y[i]; });
  for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] * (dy[i] - sum);
}

// dx = dy - exp(y) * sum(dy)
ORT_TRAIN_VECTORIZED void log_softmax_gradient_row(const float* dy, const float* y, float* dx, std::int64_t count) {
  const float sum = sum_in_parts(count, [&](std::int64_t i) { return dy[i]; });
  for (std::int64_t i = 0; i < count; ++i) dx[i] = dy[i] - exponential(y[i]) * sum;
}

using ForwardRow = void (*)(const float*, float*, std::int64_t);
using GradientRow = void (*)(const float*, const float*, float*, std::int64_t);

// Applies a function to every row; a gradient reads a second array.
class RowsKernel : public Kernel {
 public:
  RowsKernel(const Request& request, ForwardRow forward, GradientRow gradient)
      : forward_(forward), gradient_(gradient) {
    name = "own rows";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
    in_place = {{0, 0}};
    row_ = outputs[0].dims().back();
    rows_ = outputs[0].size() / row_;
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override {
    const std::int64_t grain = std::max<std::int64_t>(1, ort_train::kernels::costly_grain / row_);
    const float *first = pointers_.input<float>(0), *second = pointers_.input<float>(1);
    float* out = pointers_.output<float>(0);
    ort_train::kernels::parallel_for(rows_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin * row_; i < end * row_; i += row_) {
        if (forward_ != nullptr) {
          forward_(first + i, out + i, row_);
        } else {
          gradient_(first + i, second + i, out + i, row_);
        }
      }
    });
  }

 private:
  ForwardRow forward_;
  GradientRow gradient_;
  std::int64_t row_, rows_;
  Pointers pointers_;
};

template <ForwardRow forward, GradientRow gradient>
std::unique_ptr<Kernel> make_rows(const Request& request) {
  const Format y = request.plain_output(0);
  if (!request.all_of_type(DataType::float32) || y.dims().empty() || y.size() == 0) return nullptr;
  const auto last = static_cast<std::int64_t>(y.dims().size()) - 1;
  const std::int64_t axis = request.node.integer("axis", -1);
  if (axis != -1 && axis != last) return nullptr;
  return std::make_unique<RowsKernel>(request, forward, gradient);
}

const FactoryRegistration softmax("Softmax", make_rows<softmax_row, nullptr>);
const FactoryRegistration log_softmax("LogSoftmax", make_rows<log_softmax_row, nullptr>);
const TrainingFactoryRegistration softmax_grad("SoftmaxGrad", make_rows<nullptr, softmax_gradient_row>);
const TrainingFactoryRegistration log_softmax_grad("LogSoftmaxGrad", make_rows<nullptr, log_softmax_gradient_row>);

}  // namespace

}  // namespace ort_train::runtime::cpu
