#include <cmath>

#include "kernels/channels.h"

namespace ort_train::kernels {

namespace {

bool has_relu(const graph::Node& node) {
  const std::string activation = node.string("activation", "");
  if (!activation.empty() && activation != "Relu") fail("the activation '", activation, "' is not Relu");
  return activation == "Relu";
}

double epsilon_of(const graph::Node& node) { return static_cast<double>(node.real("epsilon", 1e-5f)); }

struct Statistics {
  std::vector<double> mean, variance;
};

// Mean and population variance of every channel, in two passes.
template <typename T>
Statistics statistics_of(const ChannelExtents& extents, const T* x) {
  if (extents.count() == 0) fail("there are no elements to normalize");
  const auto count = static_cast<double>(extents.count());
  Statistics result;
  result.mean = channel_sums(extents, [x](std::size_t, std::int64_t i) { return static_cast<double>(x[i]); });
  for (double& mean : result.mean) mean /= count;
  result.variance = channel_sums(extents, [x, &result](std::size_t c, std::int64_t i) {
    const double difference = static_cast<double>(x[i]) - result.mean[c];
    return difference * difference;
  });
  for (double& variance : result.variance) variance /= count;
  return result;
}

template <typename T>
void normalize(const ChannelExtents& extents, const T* x, const Statistics& statistics,
               const std::vector<double>& scale, const std::vector<double>& bias, double epsilon, bool relu, T* y) {
  for_each_channel(extents, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const double factor = scale[c] / std::sqrt(statistics.variance[c] + epsilon);
    const double mean = statistics.mean[c];
    for_each_element(extents, channel, [&](std::int64_t i) {
      const double value = (static_cast<double>(x[i]) - mean) * factor + bias[c];
      y[i] = static_cast<T>(relu && value < 0 ? 0.0 : value);
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
  const ChannelExtents extents = channel_extents_of(x.dims());
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
  const ChannelExtents extents = channel_extents_of(x.dims());
  const std::vector<double> scale = channel_input(call, 1, extents), bias = channel_input(call, 2, extents);
  const Statistics running{channel_input(call, 3, extents), channel_input(call, 4, extents)};
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    normalize(extents, x.data<T>(), running, scale, bias, epsilon_of(call.node), false, y.data<T>());
  });
}

// --- the gradient
//
// With n = (x - mean) / sqrt(variance + epsilon) over the M elements of a channel: dScale = sum(dY * n), dB = sum(dY),
// dX = scale / sqrt(variance + epsilon) * (dY - dB / M - n * dScale / M). S. Ioffe and C. Szegedy, "Batch
// Normalization" (2015), section 3. Where the batch is split, the sums go over all of it before dX is computed.

struct GradientSums {
  std::vector<double> scale, bias;
};

// The arrays dY, X and, with Relu, Y, and what is known of the channels.
template <typename T>
class Gradient {
 public:
  Gradient(const Invocation& call, std::size_t first_statistic, std::size_t activated)
      : extents_(channel_extents_of(call.inputs.at(1).dims())),
        dy_(call.inputs[0].data<T>()),
        x_(call.inputs[1].data<T>()),
        mean_(channel_input(call, first_statistic, extents_)),
        inverse_(channel_input(call, first_statistic + 1, extents_)) {
    if (call.inputs[0].dims() != call.inputs[1].dims()) {
      fail("dY of shape ", to_string(call.inputs[0].dims()), " does not fit X of shape ",
           to_string(call.inputs[1].dims()));
    }
    const double epsilon = epsilon_of(call.node);
    for (double& value : inverse_) value = 1 / std::sqrt(value + epsilon);
    if (!has_relu(call.node)) return;
    if (!call.has_input(activated)) fail("the gradient of a normalization with Relu needs Y");
    y_ = call.inputs[activated].data<T>();
  }

  const ChannelExtents& extents() const { return extents_; }

  GradientSums sums() const {
    return {channel_sums(extents_, [this](std::size_t c, std::int64_t i) { return masked(i) * normalized(c, i); }),
            channel_sums(extents_, [this](std::size_t, std::int64_t i) { return masked(i); })};
  }

  /// dX, from sums over `count` elements a channel.
  void write(const std::vector<double>& scale, const GradientSums& sums, double count, T* result) const {
    for_each_channel(extents_, [&](std::int64_t channel) {
      const auto c = static_cast<std::size_t>(channel);
      for_each_element(extents_, channel, [&](std::int64_t i) {
        result[i] = static_cast<T>(scale[c] * inverse_[c] *
                                   (masked(i) - sums.bias[c] / count - normalized(c, i) * sums.scale[c] / count));
      });
    });
  }

 private:
  // The activation's gradient, where there is one.
  double masked(std::int64_t i) const { return y_ != nullptr && !(y_[i] > T{0}) ? 0.0 : static_cast<double>(dy_[i]); }
  double normalized(std::size_t c, std::int64_t i) const {
    return (static_cast<double>(x_[i]) - mean_[c]) * inverse_[c];
  }

  ChannelExtents extents_;
  const T* dy_;
  const T* x_;
  const T* y_ = nullptr;
  std::vector<double> mean_, inverse_;
};

// (dY, X, scale, batch_mean, batch_var[, Y]) -> dX, dScale, dB
void compute_gradient(Invocation& call) {
  const Tensor& x = call.inputs.at(1);
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Gradient<T> gradient(call, 3, 5);
    const std::vector<double> scale = channel_input(call, 2, gradient.extents());
    const GradientSums sums = gradient.sums();
    const auto count = static_cast<double>(gradient.extents().count());
    gradient.write(scale, sums, count, output(call, 0, x.dtype(), x.dims()).template data<T>());
    write_channels(call, 1, call.inputs[2].dtype(), sums.scale);
    write_channels(call, 2, call.inputs[2].dtype(), sums.bias);
  });
}

// (dY, X, batch_mean, batch_var[, Y]) -> dScale, dB
void compute_gradient_sums(Invocation& call) {
  const DataType dtype = call.inputs.at(1).dtype();
  dispatch_floating(dtype, [&](auto tag) {
    const GradientSums sums = Gradient<typename decltype(tag)::type>(call, 2, 4).sums();
    write_channels(call, 0, dtype, sums.scale);
    write_channels(call, 1, dtype, sums.bias);
  });
}

// (dY, X, scale, batch_mean, batch_var, dScale, dB[, Y]) -> dX
void compute_gradient_input(Invocation& call) {
  const Tensor& x = call.inputs.at(1);
  const std::int64_t count = call.node.integer("count", 0);
  if (count < 1) fail("the number of elements a channel is ", count, "; it must be at least 1");
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Gradient<T> gradient(call, 3, 7);
    const ChannelExtents& extents = gradient.extents();
    const GradientSums sums{channel_input(call, 5, extents), channel_input(call, 6, extents)};
    gradient.write(channel_input(call, 2, extents), sums, static_cast<double>(count),
                   output(call, 0, x.dtype(), x.dims()).template data<T>());
  });
}

const Registration batch_normalization("BatchNormalization", compute_batch_normalization);
const TrainingRegistration training_registrations[] = {{"BatchNormalizationTraining", normalize_with_batch_statistics},
                                                       {"BatchNormalizationGrad", compute_gradient},
                                                       {"BatchNormalizationGradSums", compute_gradient_sums},
                                                       {"BatchNormalizationGradInput", compute_gradient_input}};

}  // namespace

}  // namespace ort_train::kernels
