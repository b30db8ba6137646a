// Batch, instance, layer and RMS normalization are one computation: the extents of the statistics say over what is
// averaged, those of the scale what has a parameter of its own.
#include <cmath>

#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

/// For every element of `dims`, row-major, its place in an array whose extents are 1 where it is broadcast.
std::vector<std::size_t> places_in(const Extents& dims, const Extents& small) {
  Extents strides(dims.size());
  std::int64_t step = 1, count = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = small[axis] == 1 ? 0 : step;
    step *= small[axis];
    count *= dims[axis];
  }
  std::vector<std::size_t> places(static_cast<std::size_t>(count));
  for_each_row(dims, strides, [&](std::int64_t position, std::int64_t offset) {
    for (std::int64_t i = 0; i < dims.back(); ++i) {
      places[static_cast<std::size_t>(position + i)] = static_cast<std::size_t>(offset + i * strides.back());
    }
  });
  return places;
}

/// The sum of value(i) in each group, in double: the order of summation then hardly matters.
template <typename Value>
std::vector<double> sums(const std::vector<std::size_t>& groups, std::size_t count, const Value& value) {
  std::vector<double> result(count, 0.0);
  for (std::size_t i = 0; i < groups.size(); ++i) result[groups[i]] += value(i);
  return result;
}

template <typename T>
std::vector<T> as(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <typename T>
void store_running(Operands<T>& operands, const CudnnNode& node, const std::vector<double>& mean,
                   const std::vector<double>& variance, double count) {
  if (!node.has_output(Role::next_running_mean)) return;
  const double momentum = operands.number(node.input(Role::momentum));
  const auto mix = [&](Role from, Role to, const std::vector<double>& now, double correction) {
    std::vector<T> running = operands.load(node.input(from));
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i] = static_cast<T>((1 - momentum) * running[i] + momentum * now[i] * correction);
    }
    operands.store(node.output(to), running);
  };
  mix(Role::running_mean, Role::next_running_mean, mean, 1);
  mix(Role::running_variance, Role::next_running_variance, variance, count > 1 ? count / (count - 1) : 1);
}

template <typename T>
void forward(Operands<T>& operands, const CudnnNode& node) {
  const Extents dims = operands.tensor(node.input(Role::x)).dims;
  const Extents statistics = operands.tensor(node.output(Role::inverse_deviation)).dims;
  const auto group = places_in(dims, statistics);
  const auto parameter = places_in(dims, operands.tensor(node.input(Role::scale)).dims);
  const std::vector<T> x = operands.load(node.input(Role::x));
  const std::vector<T> scale = operands.load(node.input(Role::scale));
  const bool has_bias = node.inputs.count(Role::bias) != 0;
  const std::vector<T> bias = has_bias ? operands.load(node.input(Role::bias)) : std::vector<T>(scale.size(), T{});
  const double epsilon = operands.number(node.input(Role::epsilon));
  const auto groups = static_cast<std::size_t>(operands.tensor(node.output(Role::inverse_deviation)).elements());
  const double count = static_cast<double>(x.size()) / static_cast<double>(groups);

  std::vector<double> mean(groups, 0.0);
  if (node.mode != CUDNN_RMS_NORM) {
    mean = sums(group, groups, [&](std::size_t i) { return static_cast<double>(x[i]); });
    for (double& value : mean) value /= count;
  }
  std::vector<double> variance = sums(group, groups, [&](std::size_t i) {
    const double centred = x[i] - mean[group[i]];
    return centred * centred;
  });
  for (double& value : variance) value /= count;
  std::vector<double> inverse(groups);
  for (std::size_t g = 0; g < groups; ++g) inverse[g] = 1 / std::sqrt(variance[g] + epsilon);

  std::vector<T> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double normal = (x[i] - mean[group[i]]) * inverse[group[i]];
    y[i] = static_cast<T>(normal * scale[parameter[i]] + bias[parameter[i]]);
  }
  operands.store(node.output(Role::y), y);
  if (node.has_output(Role::mean)) operands.store(node.output(Role::mean), as<T>(mean));
  operands.store(node.output(Role::inverse_deviation), as<T>(inverse));
  store_running(operands, node, mean, variance, count);
}

template <typename T>
void backward(Operands<T>& operands, const CudnnNode& node) {
  const CudnnTensor& statistics = operands.tensor(node.input(Role::inverse_deviation));
  const Extents dims = operands.tensor(node.input(Role::x)).dims;
  const auto group = places_in(dims, statistics.dims);
  const auto parameter = places_in(dims, operands.tensor(node.input(Role::scale)).dims);
  const std::vector<T> x = operands.load(node.input(Role::x));
  const std::vector<T> dy = operands.load(node.input(Role::dy));
  const std::vector<T> scale = operands.load(node.input(Role::scale));
  const std::vector<T> inverse = operands.load(node.input(Role::inverse_deviation));
  const bool centred = node.mode != CUDNN_RMS_NORM;
  const std::vector<T> mean = centred ? operands.load(node.input(Role::mean)) : std::vector<T>(inverse.size(), T{});
  const double count = static_cast<double>(x.size()) / static_cast<double>(inverse.size());

  const auto normal = [&](std::size_t i) {
    return (static_cast<double>(x[i]) - mean[group[i]]) * static_cast<double>(inverse[group[i]]);
  };
  const auto gradient = [&](std::size_t i) { return static_cast<double>(dy[i]) * scale[parameter[i]]; };
  const auto plain = sums(group, inverse.size(), gradient);
  const auto weighted = sums(group, inverse.size(), [&](std::size_t i) { return gradient(i) * normal(i); });

  std::vector<T> dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t g = group[i];
    const double shift = centred ? plain[g] / count : 0;
    dx[i] = static_cast<T>(inverse[g] * (gradient(i) - shift - normal(i) * weighted[g] / count));
  }
  operands.store(node.output(Role::dx), dx);
  operands.store(node.output(Role::dscale),
                 as<T>(sums(parameter, scale.size(), [&](std::size_t i) { return dy[i] * normal(i); })));
  if (!node.has_output(Role::dbias)) return;
  operands.store(node.output(Role::dbias),
                 as<T>(sums(parameter, scale.size(), [&](std::size_t i) { return static_cast<double>(dy[i]); })));
}

}  // namespace

template <typename T>
void compute_normalization(Operands<T>& operands, const CudnnNode& node) {
  if (node.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) return forward(operands, node);
  backward(operands, node);
}

template void compute_normalization(Operands<float>&, const CudnnNode&);
template void compute_normalization(Operands<double>&, const CudnnNode&);

}  // namespace virtual_gpu
