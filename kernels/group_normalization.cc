#include <algorithm>
#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

namespace {

// X seen as [batch, groups, channels of a group, inner]: every group of a sample has statistics of its own.
struct Groups {
  std::int64_t batch, groups, channels, inner;
  std::int64_t size() const { return channels * inner; }
  std::int64_t all_channels() const { return groups * channels; }
};

Groups groups_of(const Dims& dims, std::int64_t groups) {
  if (dims.size() < 3) fail("an array [N,C,D1,...] was expected, this one is ", to_string(dims));
  if (groups < 1 || dims[1] % groups != 0) fail(dims[1], " channels do not split into ", groups, " groups");
  return {dims[0], groups, dims[1] / groups, element_count(std::span(dims).subspan(2))};
}

std::vector<double> channel_input(const Invocation& call, std::size_t index, const Groups& groups) {
  const Tensor& values = call.inputs[index];
  if (values.dims() != Dims{groups.all_channels()}) {
    fail("input ", index, " of shape ", to_string(values.dims()), " does not fit ", groups.all_channels(), " channels");
  }
  return values.to_doubles();
}

struct Statistics {
  double mean, inverse_deviation;
};

template <typename T>
Statistics statistics_of(const T* elements, std::int64_t count, double epsilon) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(elements[i]);
  const double mean = sum / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(elements[i]) - mean;
    squares += difference * difference;
  }
  return {mean, 1 / std::sqrt(squares / static_cast<double>(count) + epsilon)};
}

template <typename Body>
void for_each_group(const Groups& groups, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, groups.size()));
  parallel_for(groups.batch * groups.groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) body(group);
  });
}

void normalize_groups(Invocation& call, const Groups& groups) {
  const Tensor& x = call.inputs[0];
  const std::vector<double> scale = channel_input(call, 1, groups), bias = channel_input(call, 2, groups);
  const auto epsilon = static_cast<double>(call.node.real("epsilon", 1e-5f));
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_group(groups, [&](std::int64_t group) {
      const T* source = x.data<T>() + group * groups.size();
      T* target = y.data<T>() + group * groups.size();
      const Statistics statistics = statistics_of(source, groups.size(), epsilon);
      for (std::int64_t i = 0; i < groups.size(); ++i) {
        const auto channel = static_cast<std::size_t>(group % groups.groups * groups.channels + i / groups.inner);
        const double normalized = (static_cast<double>(source[i]) - statistics.mean) * statistics.inverse_deviation;
        target[i] = static_cast<T>(normalized * scale[channel] + bias[channel]);
      }
    });
  });
}

void compute_group_normalization(Invocation& call) {
  normalize_groups(call, groups_of(call.inputs[0].dims(), call.node.integer("num_groups", 0)));
}

// Groups of one channel.
Groups instances_of(const Dims& dims) { return groups_of(dims, dims.size() > 1 ? dims[1] : 0); }

void compute_instance_normalization(Invocation& call) { normalize_groups(call, instances_of(call.inputs[0].dims())); }

// As for a layer normalization, with one scale for a whole instance: dX = scale * inverse * (dY - mean(dY) - n *
// mean(dY * n)), dScale and dB sum dY * n and dY over the samples.
void compute_instance_normalization_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  if (gradient.dims() != x.dims()) {
    fail("dY of shape ", to_string(gradient.dims()), " does not fit X of shape ", to_string(x.dims()));
  }
  const Groups groups = instances_of(x.dims());
  const std::vector<double> scale = channel_input(call, 2, groups);
  const auto epsilon = static_cast<double>(call.node.real("epsilon", 1e-5f));
  const auto count = static_cast<double>(groups.size());
  std::vector<double> sums(static_cast<std::size_t>(groups.batch * groups.groups)), products(sums.size());
  Tensor& result = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_group(groups, [&](std::int64_t group) {
      const T* dy = gradient.data<T>() + group * groups.size();
      const T* source = x.data<T>() + group * groups.size();
      T* dx = result.data<T>() + group * groups.size();
      const auto [mean, inverse] = statistics_of(source, groups.size(), epsilon);
      double sum = 0, product = 0;
      for (std::int64_t i = 0; i < groups.size(); ++i) {
        sum += static_cast<double>(dy[i]);
        product += static_cast<double>(dy[i]) * (static_cast<double>(source[i]) - mean) * inverse;
      }
      const double factor = scale[static_cast<std::size_t>(group % groups.groups)] * inverse;
      for (std::int64_t i = 0; i < groups.size(); ++i) {
        const double n = (static_cast<double>(source[i]) - mean) * inverse;
        dx[i] = static_cast<T>(factor * (static_cast<double>(dy[i]) - sum / count - n * product / count));
      }
      sums[static_cast<std::size_t>(group)] = sum;
      products[static_cast<std::size_t>(group)] = product;
    });
    const auto write_totals = [&](std::size_t index, const std::vector<double>& parts) {
      if (!wants_output(call, index)) return;
      Tensor& out = output(call, index, x.dtype(), {groups.groups});
      for (std::int64_t channel = 0; channel < groups.groups; ++channel) {
        double total = 0;
        for (std::int64_t n = 0; n < groups.batch; ++n)
          total += parts[static_cast<std::size_t>(n * groups.groups + channel)];
        out.data<T>()[channel] = static_cast<T>(total);
      }
    };
    write_totals(1, products);
    write_totals(2, sums);
  });
}

const Registration group_normalization("GroupNormalization", compute_group_normalization);
const Registration instance_normalization("InstanceNormalization", compute_instance_normalization);
const TrainingRegistration instance_normalization_grad("InstanceNormalizationGrad",
                                                       compute_instance_normalization_grad);

}  // namespace

}  // namespace ort_train::kernels
