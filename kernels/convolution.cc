#include <algorithm>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/window.h"

namespace ort_train::kernels {

namespace {

// A grouped convolution from `channels` to `filters`: X [batch, channels, window.input], W [filters, channels / groups,
// window.kernel], Y [batch, filters, window.output]. Its two gradients have the same extents.
struct Convolution {
  Window window;
  std::int64_t batch, channels, filters, groups;

  std::int64_t group_channels() const { return channels / groups; }
  std::int64_t group_filters() const { return filters / groups; }
};

void check(const Convolution& convolution, const Dims& weight) {
  const auto& [window, batch, channels, filters, groups] = convolution;
  if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    fail(channels, " channels and ", filters, " filters do not split into ", groups, " groups");
  }
  if (weight.size() != window.kernel.size() + 2 || weight[0] != filters || weight[1] != channels / groups) {
    fail("weights of shape ", to_string(weight), " do not fit ", channels, " channels in ", groups, " groups, ",
         filters, " filters and a window of ", to_string(window.kernel));
  }
}

// How many items of `multiplications` each are worth a thread of their own.
std::int64_t grain_of(std::int64_t multiplications) {
  return std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, multiplications));
}

// The sums of one channel are kept in double precision and rounded once.
template <typename T>
void round_into(const std::vector<double>& sums, T* out) {
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<T>(sums[i]);
}

template <typename T>
void convolve(const Convolution& convolution, const T* x, const T* weight, const T* bias, T* y) {
  const WindowTable table(convolution.window);
  const std::int64_t input_size = convolution.window.input_size(), output_size = convolution.window.output_size();
  const std::int64_t taps = convolution.window.kernel_size(), depth = convolution.group_channels();
  const std::int64_t stride = table.stride();
  parallel_for(convolution.batch * convolution.filters, grain_of(output_size * taps * depth),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<double> sums(static_cast<std::size_t>(output_size));
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t sample = item / convolution.filters, filter = item % convolution.filters;
                   const std::int64_t group = filter / convolution.group_filters();
                   std::fill(sums.begin(), sums.end(), bias == nullptr ? 0.0 : static_cast<double>(bias[filter]));
                   for (std::int64_t c = 0; c < depth; ++c) {
                     const T* channel = x + (sample * convolution.channels + group * depth + c) * input_size;
                     const T* w = weight + (filter * depth + c) * taps;
                     table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t tap) {
                       const auto factor = static_cast<double>(w[tap]);
                       double* sum = sums.data() + out;
                       const T* source = channel + in;
                       if (stride == 1) {
                         for (std::int64_t i = 0; i < count; ++i) sum[i] += factor * static_cast<double>(source[i]);
                       } else {
                         for (std::int64_t i = 0; i < count; ++i)
                           sum[i] += factor * static_cast<double>(source[i * stride]);
                       }
                     });
                   }
                   round_into(sums, y + item * output_size);
                 }
               });
}

template <typename T>
void convolve_gradient_to_input(const Convolution& convolution, const T* gradient, const T* weight, const T* bias,
                                T* result) {
  const WindowTable table(convolution.window);
  const std::int64_t input_size = convolution.window.input_size(), output_size = convolution.window.output_size();
  const std::int64_t taps = convolution.window.kernel_size(), depth = convolution.group_channels();
  const std::int64_t filters = convolution.group_filters(), stride = table.stride();
  parallel_for(convolution.batch * convolution.channels, grain_of(output_size * taps * filters),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<double> sums(static_cast<std::size_t>(input_size));
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t sample = item / convolution.channels, channel = item % convolution.channels;
                   const std::int64_t group = channel / depth;
                   std::fill(sums.begin(), sums.end(), bias == nullptr ? 0.0 : static_cast<double>(bias[channel]));
                   for (std::int64_t f = group * filters; f < (group + 1) * filters; ++f) {
                     const T* dy = gradient + (sample * convolution.filters + f) * output_size;
                     const T* w = weight + (f * depth + channel % depth) * taps;
                     table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t tap) {
                       const auto factor = static_cast<double>(w[tap]);
                       double* sum = sums.data() + in;
                       const T* source = dy + out;
                       if (stride == 1) {
                         for (std::int64_t i = 0; i < count; ++i) sum[i] += factor * static_cast<double>(source[i]);
                       } else {
                         for (std::int64_t i = 0; i < count; ++i)
                           sum[i * stride] += factor * static_cast<double>(source[i]);
                       }
                     });
                   }
                   round_into(sums, result + item * input_size);
                 }
               });
}

// Every tap has a row of sums of its own, as long as an output row, that is added up at the end: a sum for every tap
// alone would make the innermost loop a chain of dependent additions.
template <typename T>
void convolve_gradient_to_weight(const Convolution& convolution, const T* gradient, const T* x, T* result) {
  const WindowTable table(convolution.window);
  const std::int64_t input_size = convolution.window.input_size(), output_size = convolution.window.output_size();
  const std::int64_t taps = convolution.window.kernel_size(), depth = convolution.group_channels();
  const std::int64_t stride = table.stride(), row_length = table.row_length();
  const std::int64_t grain = grain_of(convolution.batch * output_size * taps);
  parallel_for(convolution.filters * depth, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> sums(static_cast<std::size_t>(taps * row_length));
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t filter = item / depth;
      const std::int64_t channel = filter / convolution.group_filters() * depth + item % depth;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t sample = 0; sample < convolution.batch; ++sample) {
        const T* dy = gradient + (sample * convolution.filters + filter) * output_size;
        const T* channel_x = x + (sample * convolution.channels + channel) * input_size;
        table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t tap) {
          double* sum = sums.data() + tap * row_length;
          const T* a = dy + out;
          const T* b = channel_x + in;
          if (stride == 1) {
            for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
          } else {
            for (std::int64_t i = 0; i < count; ++i)
              sum[i] += static_cast<double>(a[i]) * static_cast<double>(b[i * stride]);
          }
        });
      }
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        double total = 0;
        for (std::int64_t i = 0; i < row_length; ++i) total += sums[static_cast<std::size_t>(tap * row_length + i)];
        result[item * taps + tap] = static_cast<T>(total);
      }
    }
  });
}

template <typename T>
void sum_over_batch_and_space(const Convolution& convolution, const T* gradient, T* result) {
  const std::int64_t size = convolution.window.output_size();
  for (std::int64_t filter = 0; filter < convolution.filters; ++filter) {
    double sum = 0;
    for (std::int64_t sample = 0; sample < convolution.batch; ++sample) {
      const T* dy = gradient + (sample * convolution.filters + filter) * size;
      for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(dy[i]);
    }
    result[filter] = static_cast<T>(sum);
  }
}

const Tensor* bias_input(const Invocation& call, std::size_t index, std::int64_t channels) {
  if (!call.has_input(index)) return nullptr;
  const Tensor& bias = call.inputs[index];
  if (bias.dims() != Dims{channels})
    fail("a bias of shape ", to_string(bias.dims()), " does not fit ", channels, " channels");
  return &bias;
}

// The convolution behind a Conv node or one of its gradients, from the extents of its X and W.
Convolution convolution_of(const graph::Node& node, const Dims& x, const Dims& weight) {
  const Dims input = spatial_dims(x);
  const Dims kernel = spatial_dims(weight);
  if (node.integers("kernel_shape", kernel) != kernel) {
    fail("the attribute 'kernel_shape' differs from weights of shape ", to_string(weight));
  }
  Convolution convolution{forward_window(node, input, kernel), x[0], x[1], weight[0], node.integer("group", 1)};
  check(convolution, weight);
  return convolution;
}

void check_gradient(const Convolution& convolution, const Tensor& gradient) {
  const Dims expected = channel_dims(convolution.batch, convolution.filters, convolution.window.output);
  if (gradient.dims() != expected) {
    fail("dY has the shape ", to_string(gradient.dims()), " where ", to_string(expected), " was expected");
  }
}

void compute_conv(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Convolution convolution = convolution_of(call.node, x.dims(), weight.dims());
  const Tensor* bias = bias_input(call, 2, convolution.filters);
  Tensor& y = output(call, 0, x.dtype(), channel_dims(x.dims()[0], convolution.filters, convolution.window.output));
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    convolve(convolution, x.data<T>(), weight.data<T>(), bias == nullptr ? nullptr : bias->data<T>(), y.data<T>());
  });
}

void compute_conv_grad_input(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Dims dims = call.node.integers("input_shape");
  const Convolution convolution = convolution_of(call.node, dims, weight.dims());
  check_gradient(convolution, gradient);
  Tensor& result = output(call, 0, gradient.dtype(), dims);
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    convolve_gradient_to_input<T>(convolution, gradient.data<T>(), weight.data<T>(), nullptr, result.data<T>());
  });
}

void compute_conv_grad_weight(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  const Dims dims = call.node.integers("weight_shape");
  const Convolution convolution = convolution_of(call.node, x.dims(), dims);
  check_gradient(convolution, gradient);
  Tensor& result = output(call, 0, gradient.dtype(), dims);
  dispatch_floating(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    convolve_gradient_to_weight<T>(convolution, gradient.data<T>(), x.data<T>(), result.data<T>());
    if (!wants_output(call, 1)) return;
    Tensor& bias = output(call, 1, gradient.dtype(), {convolution.filters});
    sum_over_batch_and_space(convolution, gradient.data<T>(), bias.data<T>());
  });
}

// Y of a transposed convolution is the gradient with respect to the input of the convolution whose Y is X.
void compute_conv_transpose(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Dims kernel = spatial_dims(weight.dims());
  if (call.node.integers("kernel_shape", kernel) != kernel) {
    fail("the attribute 'kernel_shape' differs from weights of shape ", to_string(weight.dims()));
  }
  const std::int64_t groups = call.node.integer("group", 1);
  Convolution convolution{transposed_window(call.node, spatial_dims(x.dims()), kernel), x.dims()[0],
                          weight.dims()[1] * groups, x.dims()[1], groups};
  check(convolution, weight.dims());
  const Tensor* bias = bias_input(call, 2, convolution.channels);
  Tensor& y = output(call, 0, x.dtype(), channel_dims(x.dims()[0], convolution.channels, convolution.window.input));
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    convolve_gradient_to_input(convolution, x.data<T>(), weight.data<T>(), bias == nullptr ? nullptr : bias->data<T>(),
                               y.data<T>());
  });
}

const Registration conv("Conv", compute_conv);
const Registration conv_transpose("ConvTranspose", compute_conv_transpose);
const TrainingRegistration conv_grad_input("ConvGradInput", compute_conv_grad_input);
const TrainingRegistration conv_grad_weight("ConvGradWeight", compute_conv_grad_weight);

}  // namespace

}  // namespace ort_train::kernels
