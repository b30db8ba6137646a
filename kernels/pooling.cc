#include <algorithm>
#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/strided.h"
#include "kernels/window.h"

namespace ort_train::kernels {

namespace {

// How many taps of the window at `position` count along one axis: those on the input, or on the padding as well. What
// ceil_mode lets a window reach behind the padding never counts.
std::int64_t counted_taps(const Window& window, std::size_t axis, std::int64_t position, bool count_pads) {
  const std::int64_t lowest = count_pads ? -window.begin_pads[axis] : 0;
  const std::int64_t highest = window.input[axis] + (count_pads ? window.end_pads[axis] : 0);
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    const std::int64_t at = position * window.strides[axis] + tap * window.dilations[axis] - window.begin_pads[axis];
    if (at >= lowest && at < highest) ++count;
  }
  return count;
}

// What the sum of every window of a channel is divided by.
std::vector<double> divisors(const Window& window, bool count_pads) {
  std::vector<std::vector<std::int64_t>> counts;
  for (std::size_t axis = 0; axis < window.output.size(); ++axis) {
    counts.emplace_back();
    for (std::int64_t i = 0; i < window.output[axis]; ++i) {
      counts.back().push_back(counted_taps(window, axis, i, count_pads));
    }
  }
  std::vector<double> result(static_cast<std::size_t>(window.output_size()));
  Dims index(window.output.size(), 0);
  for (double& divisor : result) {
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < counts.size(); ++axis)
      product *= counts[axis][static_cast<std::size_t>(index[axis])];
    // A window of nothing but padding averages to 0.
    divisor = static_cast<double>(std::max<std::int64_t>(1, product));
    advance(index, window.output);
  }
  return result;
}

Window window_of(const graph::Node& node, const Dims& dims) {
  return forward_window(node, spatial_dims(dims), node.integers("kernel_shape"));
}

// y = finish(sum of term(x) over the window, number of the window in its channel).
template <typename T, typename Term, typename Finish>
void pool(const Window& window, const Tensor& x, Tensor& y, const Term& term, const Finish& finish) {
  const WindowTable table(window);
  const std::int64_t input_size = window.input_size(), output_size = window.output_size();
  const std::int64_t stride = table.stride();
  parallel_for(x.dims()[0] * x.dims()[1], 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> sums(static_cast<std::size_t>(output_size));
    for (std::int64_t channel = begin; channel < end; ++channel) {
      const T* source = x.data<T>() + channel * input_size;
      std::fill(sums.begin(), sums.end(), 0.0);
      table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t) {
        double* sum = sums.data() + out;
        for (std::int64_t i = 0; i < count; ++i) sum[i] += term(static_cast<double>(source[in + i * stride]));
      });
      T* target = y.data<T>() + channel * output_size;
      for (std::size_t i = 0; i < sums.size(); ++i) target[i] = static_cast<T>(finish(sums[i], i));
    }
  });
}

void compute_average_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Window window = window_of(call.node, x.dims());
  const std::vector<double> divisor = divisors(window, call.node.integer("count_include_pad", 0) != 0);
  Tensor& y = output(call, 0, x.dtype(), channel_dims(x.dims()[0], x.dims()[1], window.output));
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    pool<T>(
        window, x, y, [](double value) { return value; }, [&](double sum, std::size_t i) { return sum / divisor[i]; });
  });
}

void compute_average_pool_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Dims dims = call.node.integers("input_shape");
  const Window window = window_of(call.node, dims);
  const Dims expected = channel_dims(dims[0], dims[1], window.output);
  if (gradient.dims() != expected) {
    fail("dY has the shape ", to_string(gradient.dims()), " where ", to_string(expected), " was expected");
  }
  const std::vector<double> divisor = divisors(window, call.node.integer("count_include_pad", 0) != 0);
  Tensor& result = output(call, 0, gradient.dtype(), dims);
  const WindowTable table(window);
  const std::int64_t input_size = window.input_size(), output_size = window.output_size();
  const std::int64_t stride = table.stride();
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(dims[0] * dims[1], 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> sums(static_cast<std::size_t>(input_size)), shares(divisor.size());
      for (std::int64_t channel = begin; channel < end; ++channel) {
        const T* dy = gradient.data<T>() + channel * output_size;
        for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = static_cast<double>(dy[i]) / divisor[i];
        std::fill(sums.begin(), sums.end(), 0.0);
        table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t) {
          for (std::int64_t i = 0; i < count; ++i)
            sums[static_cast<std::size_t>(in + i * stride)] += shares[static_cast<std::size_t>(out + i)];
        });
        T* dx = result.data<T>() + channel * input_size;
        for (std::size_t i = 0; i < sums.size(); ++i) dx[i] = static_cast<T>(sums[i]);
      }
    });
  });
}

double norm_exponent(const graph::Node& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) fail("the attribute 'p' must be positive, it is ", p);
  return static_cast<double>(p);
}

void compute_lp_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Window window = window_of(call.node, x.dims());
  const double p = norm_exponent(call.node);
  Tensor& y = output(call, 0, x.dtype(), channel_dims(x.dims()[0], x.dims()[1], window.output));
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    pool<T>(
        window, x, y, [p](double value) { return std::pow(std::fabs(value), p); },
        [p](double sum, std::size_t) { return std::pow(sum, 1 / p); });
  });
}

// y = finish(fold over one channel), one number for every sample and channel.
template <typename T, typename Fold, typename Finish>
void pool_globally(const Tensor& x, Tensor& y, double initial, const Fold& fold, const Finish& finish) {
  const std::int64_t size = element_count(spatial_dims(x.dims()));
  parallel_for(x.dims()[0] * x.dims()[1], std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, size)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t channel = begin; channel < end; ++channel) {
                   const T* source = x.data<T>() + channel * size;
                   double value = initial;
                   for (std::int64_t i = 0; i < size; ++i) value = fold(value, static_cast<double>(source[i]));
                   y.data<T>()[channel] = static_cast<T>(finish(value));
                 }
               });
}

Tensor& global_output(Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  return output(call, 0, call.inputs[0].dtype(), channel_dims(dims[0], dims[1], Dims(spatial_dims(dims).size(), 1)));
}

void compute_global_average_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  Tensor& y = global_output(call);
  const auto size = static_cast<double>(element_count(spatial_dims(x.dims())));
  dispatch_floating(x.dtype(), [&](auto tag) {
    pool_globally<typename decltype(tag)::type>(
        x, y, 0.0, [](double sum, double value) { return sum + value; }, [size](double sum) { return sum / size; });
  });
}

void compute_global_max_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  Tensor& y = global_output(call);
  dispatch_floating(x.dtype(), [&](auto tag) {
    pool_globally<typename decltype(tag)::type>(
        x, y, -INFINITY, [](double best, double value) { return value > best || std::isnan(value) ? value : best; },
        [](double best) { return best; });
  });
}

void compute_global_lp_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  Tensor& y = global_output(call);
  const double p = norm_exponent(call.node);
  dispatch_floating(x.dtype(), [&](auto tag) {
    pool_globally<typename decltype(tag)::type>(
        x, y, 0.0, [p](double sum, double value) { return sum + std::pow(std::fabs(value), p); },
        [p](double sum) { return std::pow(sum, 1 / p); });
  });
}

const Registration average_pool("AveragePool", compute_average_pool);
const Registration lp_pool("LpPool", compute_lp_pool);
const Registration global_average_pool("GlobalAveragePool", compute_global_average_pool);
const Registration global_max_pool("GlobalMaxPool", compute_global_max_pool);
const Registration global_lp_pool("GlobalLpPool", compute_global_lp_pool);
const TrainingRegistration average_pool_grad("AveragePoolGrad", compute_average_pool_grad);

}  // namespace

}  // namespace ort_train::kernels
