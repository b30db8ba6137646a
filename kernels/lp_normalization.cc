#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

// X divided by the L1 or L2 norm along one axis; where that is 0, the result is 0.
void compute_lp_normalization(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const AxisView view = view_along(x.dims(), normalized_axis(call.node.integer("axis", -1), x.rank()));
  const std::int64_t p = call.node.integer("p", 2);
  if (p != 1 && p != 2) fail("the attribute 'p' must be 1 or 2, it is ", p);
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t line = 0; line < view.outer * view.inner; ++line) {
      const std::int64_t first = line / view.inner * view.extent * view.inner + line % view.inner;
      const T* source = x.data<T>() + first;
      T* target = y.data<T>() + first;
      double sum = 0;
      for (std::int64_t i = 0; i < view.extent; ++i) {
        const double value = std::fabs(static_cast<double>(source[i * view.inner]));
        sum += p == 1 ? value : value * value;
      }
      const double norm = p == 1 ? sum : std::sqrt(sum);
      for (std::int64_t i = 0; i < view.extent; ++i) {
        target[i * view.inner] = norm == 0 ? T{0} : static_cast<T>(static_cast<double>(source[i * view.inner]) / norm);
      }
    }
  });
}

// (X - mean) / (standard deviation + 1e-9) over 'axes', as the function body in the ONNX schema has it.
void compute_mean_variance_normalization(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const std::vector<std::int64_t> axes = normalized_axes(call.node.integers("axes", {0, 2, 3}), x.rank());
  // Every element's group: the array of the kept extents, its strides 0 along the normalized axes.
  Dims kept = x.dims();
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  Dims strides = row_major_strides(kept);
  for (const std::int64_t axis : axes) strides[static_cast<std::size_t>(axis)] = 0;
  const auto groups = static_cast<std::size_t>(element_count(kept));
  const double count = groups == 0 ? 1.0 : static_cast<double>(x.size()) / static_cast<double>(groups);
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  if (x.size() == 0) return;
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = x.data<T>();
    const auto for_each = [&](auto visit) {
      Dims index(x.dims().size(), 0);
      std::int64_t position = 0;
      do visit(position++, static_cast<std::size_t>(offset_of(index, strides)));
      while (advance(index, x.dims()));
    };
    std::vector<double> means(groups, 0.0), variances(groups, 0.0);
    for_each([&](std::int64_t i, std::size_t group) { means[group] += static_cast<double>(source[i]) / count; });
    for_each([&](std::int64_t i, std::size_t group) {
      const double difference = static_cast<double>(source[i]) - means[group];
      variances[group] += difference * difference / count;
    });
    for_each([&](std::int64_t i, std::size_t group) {
      y.data<T>()[i] =
          static_cast<T>((static_cast<double>(source[i]) - means[group]) / (std::sqrt(variances[group]) + 1e-9));
    });
  });
}

const Registration lp_normalization("LpNormalization", compute_lp_normalization);
const Registration mean_variance_normalization("MeanVarianceNormalization", compute_mean_variance_normalization);

}  // namespace

}  // namespace ort_train::kernels
