#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

// What the operators of batch normalization share: they see X as [batch, channels, inner], and what they know of a
// channel (axis 1) are doubles, written as elements of the array's type.
namespace ort_train::kernels {

struct ChannelExtents {
  std::int64_t batch, channels, inner;
  /// Elements of one channel.
  std::int64_t count() const { return batch * inner; }
};

inline ChannelExtents channel_extents_of(const Dims& dims) {
  if (dims.size() < 2) fail("an array [N,C,...] was expected, this one is ", to_string(dims));
  return {dims[0], dims[1], element_count(std::span(dims).subspan(2))};
}

/// Input number `index`, one number a channel.
inline std::vector<double> channel_input(const Invocation& call, std::size_t index, const ChannelExtents& extents) {
  const Tensor& values = call.inputs.at(index);
  if (values.dims() != Dims{extents.channels}) {
    fail("input ", index, " of shape ", to_string(values.dims()), " does not fit ", extents.channels, " channels");
  }
  return values.to_doubles();
}

inline void write_channels(Invocation& call, std::size_t index, DataType dtype, const std::vector<double>& values) {
  if (!wants_output(call, index)) return;
  Tensor& out = output(call, index, dtype, {static_cast<std::int64_t>(values.size())});
  dispatch_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(values.begin(), values.end(), out.data<T>(), [](double value) { return static_cast<T>(value); });
  });
}

/// Calls visit(i) for every element of one channel, in order; i counts from the start of the array.
template <typename Visit>
void for_each_element(const ChannelExtents& extents, std::int64_t channel, const Visit& visit) {
  for (std::int64_t n = 0; n < extents.batch; ++n) {
    const std::int64_t first = (n * extents.channels + channel) * extents.inner;
    for (std::int64_t i = first; i < first + extents.inner; ++i) visit(i);
  }
}

/// Calls body(channel) for every channel, on several threads.
template <typename Body>
void for_each_channel(const ChannelExtents& extents, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, extents.count()));
  parallel_for(extents.channels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t channel = begin; channel < end; ++channel) body(channel);
  });
}

/// The sums of `term(channel, i)`, a double, over the elements i of each channel.
template <typename Term>
std::vector<double> channel_sums(const ChannelExtents& extents, const Term& term) {
  std::vector<double> sums(static_cast<std::size_t>(extents.channels), 0.0);
  for_each_channel(extents, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    double sum = 0;
    for_each_element(extents, channel, [&](std::int64_t i) { sum += term(c, i); });
    sums[c] = sum;
  });
  return sums;
}

}  // namespace ort_train::kernels
