#include <algorithm>
#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

namespace {

// X seen as [batch, channels, inner]. Statistics belong to a channel: axis 1.
struct Extents {
  std::int64_t batch, channels, inner;
  std::int64_t count() const { return batch * inner; }
};

Extents extents_of(const Dims& dims) {
  if (dims.size() < 2) fail("an array [N,C,...] was expected, this one is ", to_string(dims));
  return {dims[0], dims[1], element_count(std::span(dims).subspan(2))};
}

std::vector<double> channel_input(const Invocation& call, std::size_t index, const Extents& extents) {
  const Tensor& values = call.inputs[index];
  if (values.dims() != Dims{extents.channels}) {
    fail("input ", index, " of shape ", to_string(values.dims()), " does not fit ", extents.channels, " channels");
  }
  return values.to_doubles();
}

void write_channels(Invocation& call, std::size_t index, DataType dtype, const std::vector<double>& values) {
  if (!wants_output(call, index)) return;
  Tensor& out = output(call, index, dtype, {static_cast<std::int64_t>(values.size())});
  dispatch_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(values.begin(), values.end(), out.data<T>(), [](double value) { return static_cast<T>(value); });
  });
}

bool has_relu(const graph::Node& node) {
  const std::string activation = node.string("activation", "");
  if (!activation.empty() && activation != "Relu") fail("the activation '", activation, "' is not Relu");
  return activation == "Relu";
}

double epsilon_of(const graph::Node& node) { return static_cast<double>(node.real("epsilon", 1e-5f)); }

// Calls visit(first, count) for the `batch` contiguous pieces of one channel, as offsets into X.
template <typename Visit>
void for_each_piece(const Extents& extents, std::int64_t channel, const Visit& visit) {
  for (std::int64_t n = 0; n < extents.batch; ++n)
    visit((n * extents.channels + channel) * extents.inner, extents.inner);
}

template <typename Body>
void for_each_channel(const Extents& extents, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, extents.count()));
  parallel_for(extents.channels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t channel = begin; channel < end; ++channel) body(channel);
  });
}

struct Statistics {
  std::vector<double> mean, variance;
};

// Mean and population variance of every channel, in two passes.
template <typename T>
Statistics statistics_of(const Extents& extents, const T* x) {
  if (extents.count() == 0) fail("there are no elements to normalize");
  const auto channels = static_cast<std::size_t>(extents.channels);
  Statistics result{std::vector<double>(channels), std::vector<double>(channels)};
  const auto count = static_cast<double>(extents.count());
  for_each_channel(extents, [&](std::int64_t channel) {
    double sum = 0, squares = 0;
    for_each_piece(extents, channel, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) sum += static_cast<double>(x[first + i]);
    });
    const double mean = sum / count;
    for_each_piece(extents, channel, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) {
        const double difference = static_cast<double>(x[first + i]) - mean;
        squares += difference * difference;
      }
    });
    result.mean[static_cast<std::size_t>(channel)] = mean;
    result.variance[static_cast<std::size_t>(channel)] = squares / count;
  });
  return result;
}

template <typename T>
void normalize(const Extents& extents, const T* x, const Statistics& statistics, const std::vector<double>& scale,
               const std::vector<double>& bias, double epsilon, bool relu, T* y) {
  for_each_channel(extents, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const double factor = scale[c] / std::sqrt(statistics.variance[c] + epsilon);
    const double mean = statistics.mean[c];
    for_each_piece(extents, channel, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t i = first; i < first + length; ++i) {
        const double value = (static_cast<double>(x[i]) - mean) * factor + bias[c];
        y[i] = static_cast<T>(relu && value < 0 ? 0.0 : value);
      }
    });
  });
}

// new_running = running * momentum + batch * (1 - momentum), as ONNX's BatchNormalization.
std::vector<double> moved(const std::vector<double>& running, const std::vector<double>& batch, double momentum) {
  std::vector<double> result(running.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = running[i] * momentum + batch[i] * (1 - momentum);
  return result;
}

void normalize_with_batch_statistics(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Extents extents = extents_of(x.dims());
  const std::vector<double> scale = channel_input(call, 1, extents), bias = channel_input(call, 2, extents);
  const std::vector<double> running_mean = channel_input(call, 3, extents);
  const std::vector<double> running_variance = channel_input(call, 4, extents);
  const auto momentum = static_cast<double>(call.node.real("momentum", 0.9f));
  const bool relu = has_relu(call.node);
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  const Statistics batch = dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Statistics statistics = statistics_of(extents, x.data<T>());
    normalize(extents, x.data<T>(), statistics, scale, bias, epsilon_of(call.node), relu, y.data<T>());
    return statistics;
  });
  const DataType dtype = call.inputs[3].dtype();
  write_channels(call, 1, dtype, moved(running_mean, batch.mean, momentum));
  write_channels(call, 2, dtype, moved(running_variance, batch.variance, momentum));
  write_channels(call, 3, dtype, batch.mean);
  write_channels(call, 4, dtype, batch.variance);
}

void compute_batch_normalization(Invocation& call) {
  if (call.node.integer("training_mode", 0) != 0) return normalize_with_batch_statistics(call);
  const Tensor& x = call.inputs[0];
  const Extents extents = extents_of(x.dims());
  const std::vector<double> scale = channel_input(call, 1, extents), bias = channel_input(call, 2, extents);
  const Statistics running{channel_input(call, 3, extents), channel_input(call, 4, extents)};
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    normalize(extents, x.data<T>(), running, scale, bias, epsilon_of(call.node), false, y.data<T>());
  });
}

// With n = (x - mean) / sqrt(variance + epsilon) over the M elements of a channel: dScale = sum(dY * n), dB = sum(dY),
// dX = scale / sqrt(variance + epsilon) * (dY - dB / M - n * dScale / M). S. Ioffe and C. Szegedy, "Batch
// Normalization" (2015), section 3.
template <typename T>
void differentiate(const Extents& extents, const T* gradient, const T* x, const T* y, const Statistics& statistics,
                   const std::vector<double>& scale, double epsilon, T* result, std::vector<double>& scale_gradient,
                   std::vector<double>& bias_gradient) {
  const auto count = static_cast<double>(extents.count());
  // The activation's gradient first, where there is one.
  const auto masked = [gradient, y](std::int64_t i) {
    return y != nullptr && !(y[i] > T{0}) ? 0.0 : static_cast<double>(gradient[i]);
  };
  for_each_channel(extents, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const double mean = statistics.mean[c], inverse = 1 / std::sqrt(statistics.variance[c] + epsilon);
    double sum = 0, product = 0;
    for_each_piece(extents, channel, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t i = first; i < first + length; ++i) {
        const double dy = masked(i);
        sum += dy;
        product += dy * (static_cast<double>(x[i]) - mean) * inverse;
      }
    });
    bias_gradient[c] = sum;
    scale_gradient[c] = product;
    for_each_piece(extents, channel, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t i = first; i < first + length; ++i) {
        const double normalized = (static_cast<double>(x[i]) - mean) * inverse;
        result[i] = static_cast<T>(scale[c] * inverse * (masked(i) - sum / count - normalized * product / count));
      }
    });
  });
}

void compute_batch_normalization_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  if (gradient.dims() != x.dims()) {
    fail("dY of shape ", to_string(gradient.dims()), " does not fit X of shape ", to_string(x.dims()));
  }
  const Extents extents = extents_of(x.dims());
  const std::vector<double> scale = channel_input(call, 2, extents);
  const Statistics batch{channel_input(call, 3, extents), channel_input(call, 4, extents)};
  const bool relu = has_relu(call.node);
  if (relu && !call.has_input(5)) fail("the gradient of a normalization with Relu needs Y");
  std::vector<double> scale_gradient(scale.size()), bias_gradient(scale.size());
  Tensor& result = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* y = relu ? call.inputs[5].data<T>() : nullptr;
    differentiate(extents, gradient.data<T>(), x.data<T>(), y, batch, scale, epsilon_of(call.node), result.data<T>(),
                  scale_gradient, bias_gradient);
  });
  write_channels(call, 1, call.inputs[2].dtype(), scale_gradient);
  write_channels(call, 2, call.inputs[2].dtype(), bias_gradient);
}

const Registration batch_normalization("BatchNormalization", compute_batch_normalization);
const TrainingRegistration batch_normalization_training("BatchNormalizationTraining", normalize_with_batch_statistics);
const TrainingRegistration batch_normalization_grad("BatchNormalizationGrad", compute_batch_normalization_grad);

}  // namespace

}  // namespace ort_train::kernels
