// BatchNormalization in all its forms, by kernels of our own, in whatever format the image lies.
#include <cmath>
#include <utility>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

/// [N, C, spatial...] as channels with equally many elements each.
struct Channels {
  std::int64_t channels = 0, spatial = 1, batch = 0;
  bool last = false;

  std::int64_t count() const { return batch * spatial; }
  __host__ __device__ std::int64_t at(std::int64_t channel, std::int64_t i) const {
    return last ? i * channels + channel : (i / spatial * channels + channel) * spatial + i % spatial;
  }
  __host__ __device__ std::int64_t channel_of(std::int64_t element) const {
    return last ? element % channels : element / spatial % channels;
  }
};

Channels channels_of(const Format& format) {
  const Dims& dims = format.dims();
  const std::int64_t rows = dims[0] * dims[1];
  return {dims[1], rows == 0 ? 0 : element_count(dims) / rows, dims[0], format.is_channels_last()};
}

struct Add {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Mean and population variance of each channel, in two passes, and what follows from them.
template <typename T, typename S>
struct Statistics {
  In<T> x;
  In<S> running_mean, running_variance;
  Out<S> new_mean, new_variance, batch_mean, batch_variance;
  Channels channels;
  std::int64_t count;
  Computed<S> momentum;

  void arrays(Accesses& accesses) const {
    accesses(x)(running_mean)(running_variance)(new_mean)(new_variance)(batch_mean)(batch_variance);
  }

  template <typename Block>
  __host__ __device__ void operator()(std::int64_t channel, const Block& block) const {
    using C = Computed<T>;
    const C mean = block.reduce(
                       count, C(0), [&](std::int64_t i) { return loaded(x[channels.at(channel, i)]); }, Add()) /
                   C(count);
    const C variance = block.reduce(
                           count, C(0),
                           [&](std::int64_t i) {
                             const C difference = loaded(x[channels.at(channel, i)]) - mean;
                             return difference * difference;
                           },
                           Add()) /
                       C(count);
    block.for_each(1, [&](std::int64_t) {
      batch_mean[channel] = stored<S>(mean);
      batch_variance[channel] = stored<S>(variance);
      if (new_mean.elements != nullptr) new_mean[channel] = moved(running_mean[channel], mean);
      if (new_variance.elements != nullptr) new_variance[channel] = moved(running_variance[channel], variance);
    });
  }

  template <typename C>
  __host__ __device__ S moved(const S& running, C batch) const {
    using R = Computed<S>;
    return stored<S>(loaded(running) * momentum + static_cast<R>(batch) * (R(1) - momentum));
  }
};

/// y = (x - mean) * scale / sqrt(variance + epsilon) + bias.
template <typename T, typename S>
struct Normalize {
  In<T> x;
  In<S> scale, bias, mean, variance;
  Out<T> y;
  Channels channels;
  double epsilon;
  bool relu;

  void arrays(Accesses& accesses) const { accesses(x)(scale)(bias)(mean)(variance)(y); }

  __host__ __device__ void operator()(std::int64_t i) const {
    using C = Computed<T>;
    const std::int64_t channel = channels.channel_of(i);
    const C factor = C(loaded(scale[channel])) / std::sqrt(C(loaded(variance[channel])) + C(epsilon));
    const C value = (loaded(x[i]) - C(loaded(mean[channel]))) * factor + C(loaded(bias[channel]));
    y[i] = stored<T>(relu && value < C(0) ? C(0) : value);
  }
};

/// What the parts of the gradient have in common. With Relu, dY counts only where Y > 0.
template <typename T, typename S>
struct GradientOperands {
  In<T> dy, x, y;
  In<S> mean, variance;
  Channels channels;
  double epsilon;
  bool relu;

  using C = Computed<T>;
  void arrays(Accesses& accesses) const { accesses(dy)(x)(y)(mean)(variance); }
  __host__ __device__ C gradient(std::int64_t i) const { return relu && !(loaded(y[i]) > C(0)) ? C(0) : loaded(dy[i]); }
  __host__ __device__ C inverse_deviation(std::int64_t channel) const {
    return C(1) / std::sqrt(C(loaded(variance[channel])) + C(epsilon));
  }
  __host__ __device__ C normalized(std::int64_t i, std::int64_t channel) const {
    return (loaded(x[i]) - C(loaded(mean[channel]))) * inverse_deviation(channel);
  }
};

template <typename T, typename S>
struct GradientSums {
  GradientOperands<T, S> operands;
  Out<S> scale_gradient, bias_gradient;
  std::int64_t count;

  void arrays(Accesses& accesses) const {
    operands.arrays(accesses);
    accesses(scale_gradient)(bias_gradient);
  }

  template <typename Block>
  __host__ __device__ void operator()(std::int64_t channel, const Block& block) const {
    using C = Computed<T>;
    const C bias = block.reduce(
        count, C(0), [&](std::int64_t i) { return operands.gradient(operands.channels.at(channel, i)); }, Add());
    const C scale = block.reduce(
        count, C(0),
        [&](std::int64_t i) {
          const std::int64_t element = operands.channels.at(channel, i);
          return operands.gradient(element) * operands.normalized(element, channel);
        },
        Add());
    block.for_each(1, [&](std::int64_t) {
      scale_gradient[channel] = stored<S>(scale);
      bias_gradient[channel] = stored<S>(bias);
    });
  }
};

/// dx = scale / sqrt(variance + epsilon) (dy - dbias / count - normalized dscale / count).
template <typename T, typename S>
struct GradientOfInput {
  GradientOperands<T, S> operands;
  In<S> scale, scale_gradient, bias_gradient;
  Out<T> dx;
  double count;

  void arrays(Accesses& accesses) const {
    operands.arrays(accesses);
    accesses(scale)(scale_gradient)(bias_gradient)(dx);
  }

  __host__ __device__ void operator()(std::int64_t i) const {
    using C = Computed<T>;
    const std::int64_t channel = operands.channels.channel_of(i);
    const C factor = C(loaded(scale[channel])) * operands.inverse_deviation(channel);
    const C mean_gradient = C(loaded(bias_gradient[channel])) / C(count);
    const C along = operands.normalized(i, channel) * C(loaded(scale_gradient[channel])) / C(count);
    dx[i] = stored<T>(factor * (operands.gradient(i) - mean_gradient - along));
  }
};

bool has_relu(const graph::Node& node) { return node.string("activation", "") == "Relu"; }
double epsilon_of(const graph::Node& node) { return static_cast<double>(node.real("epsilon", 1e-5F)); }

/// The image and the channel vectors have types that kernels are compiled for: equal ones, or 16-bit images with
/// float32 vectors.
bool are_known(DataType image, DataType vectors) {
  if (!FloatingTypes::contain(image)) return false;
  return vectors == image || (vectors == DataType::float32 && image != DataType::float64);
}

/// Calls function(image type, vector type).
template <typename Function>
void dispatch_types(DataType image, DataType vectors, const Function& function) {
  dispatch_any_floating(image, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_half<T>) {
      if (vectors == DataType::float32) return function(tag, TypeTag<float>{});
    }
    function(tag, tag);
  });
}

std::unique_ptr<LaunchedKernel> make_like(const Request& request, const Format& image) {
  auto kernel = std::make_unique<LaunchedKernel>(request);
  for (auto* formats : {&kernel->inputs, &kernel->outputs}) {
    for (Format& format : *formats) {
      if (format.defined() && format.dims() == image.dims()) format = image;
    }
  }
  return kernel;
}

std::unique_ptr<Kernel> make_inference(const Request& request) {
  const Format image = request.input(0);
  const DataType vectors = request.plain_input(1).dtype();
  const bool is_training = request.node.integer("training_mode", 0) != 0;
  if (is_training || image.dims().size() < 2 || !are_known(image.dtype(), vectors)) return nullptr;
  for (std::size_t i = 2; i < 5; ++i) {
    if (request.plain_input(i).dtype() != vectors) return nullptr;
  }
  auto kernel = make_like(request, image);
  kernel->in_place = {{0, 0}};
  kernel->launches = [image, vectors, epsilon = epsilon_of(request.node)](const LaunchedKernel& launched) {
    dispatch_types(image.dtype(), vectors, [&](auto image_tag, auto vector_tag) {
      using T = typename decltype(image_tag)::type;
      using S = typename decltype(vector_tag)::type;
      launched.for_each(image.size(),
                        Normalize<T, S>{launched.in<T>(0), launched.in<S>(1), launched.in<S>(2), launched.in<S>(3),
                                        launched.in<S>(4), launched.out<T>(0), channels_of(image), epsilon, false});
    });
  };
  return kernel;
}

std::unique_ptr<Kernel> make_training(const Request& request) {
  const Format image = request.input(0);
  const DataType vectors = request.plain_input(3).dtype();
  if (image.dims().size() < 2 || !are_known(image.dtype(), vectors)) return nullptr;
  if (request.plain_input(1).dtype() != vectors || request.plain_input(2).dtype() != vectors) return nullptr;
  auto kernel = make_like(request, image);
  kernel->in_place = {{1, 3}, {2, 4}};
  // The statistics are needed even when nobody asks for them.
  const std::size_t vector_bytes = static_cast<std::size_t>(image.dims()[1]) * size_of(vectors);
  kernel->scratchpad_bytes = 2 * ((vector_bytes + 255) / 256 * 256);
  kernel->launches = [image, vectors, vector_bytes, epsilon = epsilon_of(request.node), relu = has_relu(request.node),
                      momentum = request.node.real("momentum", 0.9F)](const LaunchedKernel& launched) {
    dispatch_types(image.dtype(), vectors, [&](auto image_tag, auto vector_tag) {
      using T = typename decltype(image_tag)::type;
      using S = typename decltype(vector_tag)::type;
      const Channels channels = channels_of(image);
      const std::int64_t stride = static_cast<std::int64_t>((vector_bytes + 255) / 256 * 256 / sizeof(S));
      Out<S> mean = launched.out<S>(3), variance = launched.out<S>(4);
      const Out<S> scratch = launched.scratch<S>(2 * stride);
      if (mean.elements == nullptr) mean = {scratch.elements, channels.channels};
      if (variance.elements == nullptr) variance = {scratch.elements + stride, channels.channels};
      launched.for_rows(channels.channels,
                        Statistics<T, S>{launched.in<T>(0), launched.in<S>(3), launched.in<S>(4), launched.out<S>(1),
                                         launched.out<S>(2), mean, variance, channels, channels.count(),
                                         static_cast<Computed<S>>(momentum)});
      launched.for_each(image.size(), Normalize<T, S>{launched.in<T>(0),
                                                      launched.in<S>(1),
                                                      launched.in<S>(2),
                                                      {mean.elements, mean.count},
                                                      {variance.elements, variance.count},
                                                      launched.out<T>(0),
                                                      channels,
                                                      epsilon,
                                                      relu});
    });
  };
  return kernel;
}

template <typename T, typename S>
GradientOperands<T, S> gradient_operands(const LaunchedKernel& launched, std::size_t statistics, std::size_t activated,
                                         const Format& image, double epsilon, bool relu) {
  return {launched.in<T>(0),
          launched.in<T>(1),
          launched.in<T>(activated),
          launched.in<S>(statistics),
          launched.in<S>(statistics + 1),
          channels_of(image),
          epsilon,
          relu};
}

/// dY follows the format of X.
bool is_known_gradient(const Request& request, const Format& image, std::size_t statistics) {
  return image.dims().size() >= 2 && are_known(image.dtype(), request.plain_input(statistics).dtype());
}

std::unique_ptr<Kernel> make_gradient(const Request& request) {
  const Format image = request.input(1);
  const DataType vectors = request.plain_input(3).dtype();
  if (!is_known_gradient(request, image, 3) || request.plain_input(2).dtype() != vectors) return nullptr;
  auto kernel = make_like(request, image);
  const std::size_t vector_bytes = static_cast<std::size_t>(image.dims()[1]) * size_of(vectors);
  kernel->scratchpad_bytes = 2 * ((vector_bytes + 255) / 256 * 256);
  kernel->launches = [image, vectors, vector_bytes, epsilon = epsilon_of(request.node),
                      relu = has_relu(request.node)](const LaunchedKernel& launched) {
    dispatch_types(image.dtype(), vectors, [&](auto image_tag, auto vector_tag) {
      using T = typename decltype(image_tag)::type;
      using S = typename decltype(vector_tag)::type;
      const auto operands = gradient_operands<T, S>(launched, 3, 5, image, epsilon, relu);
      const Channels& channels = operands.channels;
      const std::int64_t stride = static_cast<std::int64_t>((vector_bytes + 255) / 256 * 256 / sizeof(S));
      const Out<S> scratch = launched.scratch<S>(2 * stride);
      Out<S> scale_gradient = launched.out<S>(1), bias_gradient = launched.out<S>(2);
      if (scale_gradient.elements == nullptr) scale_gradient = {scratch.elements, channels.channels};
      if (bias_gradient.elements == nullptr) bias_gradient = {scratch.elements + stride, channels.channels};
      launched.for_rows(channels.channels,
                        GradientSums<T, S>{operands, scale_gradient, bias_gradient, channels.count()});
      launched.for_each(image.size(), GradientOfInput<T, S>{operands,
                                                            launched.in<S>(2),
                                                            {scale_gradient.elements, scale_gradient.count},
                                                            {bias_gradient.elements, bias_gradient.count},
                                                            launched.out<T>(0),
                                                            static_cast<double>(channels.count())});
    });
  };
  return kernel;
}

std::unique_ptr<Kernel> make_gradient_sums(const Request& request) {
  const Format image = request.input(1);
  const DataType vectors = request.plain_input(2).dtype();
  if (!is_known_gradient(request, image, 2)) return nullptr;
  auto kernel = make_like(request, image);
  kernel->launches = [image, vectors, epsilon = epsilon_of(request.node),
                      relu = has_relu(request.node)](const LaunchedKernel& launched) {
    dispatch_types(image.dtype(), vectors, [&](auto image_tag, auto vector_tag) {
      using T = typename decltype(image_tag)::type;
      using S = typename decltype(vector_tag)::type;
      const auto operands = gradient_operands<T, S>(launched, 2, 4, image, epsilon, relu);
      launched.for_rows(operands.channels.channels, GradientSums<T, S>{operands, launched.out<S>(0), launched.out<S>(1),
                                                                       operands.channels.count()});
    });
  };
  return kernel;
}

std::unique_ptr<Kernel> make_gradient_of_input(const Request& request) {
  const Format image = request.input(1);
  const DataType vectors = request.plain_input(3).dtype();
  if (!is_known_gradient(request, image, 3)) return nullptr;
  auto kernel = make_like(request, image);
  kernel->launches = [image, vectors, epsilon = epsilon_of(request.node), relu = has_relu(request.node),
                      count = request.node.integer("count", 1)](const LaunchedKernel& launched) {
    dispatch_types(image.dtype(), vectors, [&](auto image_tag, auto vector_tag) {
      using T = typename decltype(image_tag)::type;
      using S = typename decltype(vector_tag)::type;
      const auto operands = gradient_operands<T, S>(launched, 3, 7, image, epsilon, relu);
      launched.for_each(image.size(),
                        GradientOfInput<T, S>{operands, launched.in<S>(2), launched.in<S>(5), launched.in<S>(6),
                                              launched.out<T>(0), static_cast<double>(count)});
    });
  };
  return kernel;
}

const FactoryRegistration inference("BatchNormalization", make_inference);
const TrainingFactoryRegistration training("BatchNormalizationTraining", make_training);
const TrainingFactoryRegistration gradient("BatchNormalizationGrad", make_gradient);
const TrainingFactoryRegistration gradient_sums("BatchNormalizationGradSums", make_gradient_sums);
const TrainingFactoryRegistration gradient_of_input("BatchNormalizationGradInput", make_gradient_of_input);

}  // namespace

}  // namespace ort_train::runtime::cuda
