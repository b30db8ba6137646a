#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elementwise.h"

namespace ort_train::kernels {

namespace {

/// Neighbouring lanes that are worked on together: their elements are neighbours in memory.
constexpr std::int64_t block = 64;

/// Calls `body(offset, count)` for blocks of lanes: `offset` is that of the first element of the first lane.
template <typename Body>
void for_each_lane_block(const AxisView& view, const Body& body) {
  const std::int64_t blocks = (view.inner + block - 1) / block;
  const std::int64_t width = std::min(block, std::max<std::int64_t>(view.inner, 1));
  const std::int64_t grain = 1 + costly_grain / std::max<std::int64_t>(1, view.extent * width);
  parallel_for(view.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % blocks * block;
      body(i / blocks * view.extent * view.inner + column, std::min(block, view.inner - column));
    }
  });
}

/// What the elements of each lane of a block have in common.
template <typename C>
struct LaneStatistics {
  C largest[block];
  double sum[block];  // of exp(x - largest)
};

/// NaN spreads through its lane by the exponentials, whether or not it became the largest. Where `powers` is not null,
/// exp(x - largest) is kept there, in the layout of the source.
template <typename T>
void gather_statistics(const T* source, const AxisView& view, std::int64_t count, LaneStatistics<Compute<T>>& lanes,
                       Compute<T>* powers) {
  using C = Compute<T>;
  std::fill(lanes.largest, lanes.largest + count, -std::numeric_limits<C>::infinity());
  std::fill(lanes.sum, lanes.sum + count, 0.0);
  for (std::int64_t k = 0; k < view.extent; ++k) {
    const T* row = source + k * view.inner;
    for (std::int64_t i = 0; i < count; ++i) lanes.largest[i] = std::max(lanes.largest[i], load(row[i]));
  }
  for (std::int64_t k = 0; k < view.extent; ++k) {
    const std::int64_t row = k * view.inner;
    for (std::int64_t i = 0; i < count; ++i) {
      const C power = std::exp(load(source[row + i]) - lanes.largest[i]);
      lanes.sum[i] += static_cast<double>(power);
      if (powers != nullptr) powers[row + i] = power;
    }
  }
}

template <typename T>
void softmax(const T* source, const AxisView& view, T* target) {
  for_each_lane_block(view, [&](std::int64_t offset, std::int64_t count) {
    using C = Compute<T>;
    LaneStatistics<C> lanes;
    C* powers = nullptr;
    if constexpr (!is_half<T>) powers = target + offset;  // a 16-bit float would round them
    gather_statistics(source + offset, view, count, lanes, powers);
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) {
        const C power =
            powers != nullptr ? powers[row + i] : std::exp(load(source[offset + row + i]) - lanes.largest[i]);
        target[offset + row + i] = static_cast<T>(static_cast<C>(power / lanes.sum[i]));
      }
    }
  });
}

template <typename T>
void log_softmax_of_any(const T* source, const AxisView& view, T* target) {
  for_each_lane_block(view, [&](std::int64_t offset, std::int64_t count) {
    using C = Compute<T>;
    LaneStatistics<C> lanes;
    gather_statistics(source + offset, view, count, lanes, static_cast<C*>(nullptr));
    for (std::int64_t i = 0; i < count; ++i) lanes.sum[i] = lanes.largest[i] + std::log(lanes.sum[i]);
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = offset + k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) {
        target[row + i] = static_cast<T>(static_cast<C>(load(source[row + i]) - lanes.sum[i]));
      }
    }
  });
}

/// dx = y * (dy - sum(dy * y)).
template <typename T>
void softmax_gradient(const T* dy, const T* y, const AxisView& view, T* dx) {
  for_each_lane_block(view, [&](std::int64_t offset, std::int64_t count) {
    double sum[block] = {};
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = offset + k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<double>(dy[row + i]) * y[row + i];
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = offset + k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) dx[row + i] = static_cast<T>(y[row + i] * (dy[row + i] - sum[i]));
    }
  });
}

/// dx = dy - exp(y) * sum(dy).
template <typename T>
void log_softmax_gradient(const T* dy, const T* y, const AxisView& view, T* dx) {
  for_each_lane_block(view, [&](std::int64_t offset, std::int64_t count) {
    double sum[block] = {};
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = offset + k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) sum[i] += dy[row + i];
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = offset + k * view.inner;
      for (std::int64_t i = 0; i < count; ++i) {
        dx[row + i] = static_cast<T>(dy[row + i] - std::exp(y[row + i]) * sum[i]);
      }
    }
  });
}

AxisView view_along_attribute(const Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  return view_along(x.dims(), normalized_axis(call.node.integer("axis", -1), x.rank()));
}

void compute_softmax(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  dispatch_any_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    softmax(x.data<T>(), view_along_attribute(call), output(call, 0, x.dtype(), x.dims()).data<T>());
  });
}

void compute_log_softmax(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  dispatch_any_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    log_softmax_of_any(x.data<T>(), view_along_attribute(call), output(call, 0, x.dtype(), x.dims()).data<T>());
  });
}

template <typename Gradient>
void compute_gradient(Invocation& call, const Gradient& gradient) {
  const Tensor& dy = call.inputs.at(0);
  const Tensor& y = call.inputs.at(1);
  dispatch_floating(dy.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor& dx = output(call, 0, dy.dtype(), y.dims());
    gradient(dy.data<T>(), y.data<T>(), view_along_attribute(call), dx.data<T>());
  });
}

void compute_softmax_gradient(Invocation& call) {
  compute_gradient(call, [](auto... arguments) { softmax_gradient(arguments...); });
}

void compute_log_softmax_gradient(Invocation& call) {
  compute_gradient(call, [](auto... arguments) { log_softmax_gradient(arguments...); });
}

const Registration registrations[] = {{"Softmax", compute_softmax}, {"LogSoftmax", compute_log_softmax}};

const TrainingRegistration training_registrations[] = {{"SoftmaxGrad", compute_softmax_gradient},
                                                       {"LogSoftmaxGrad", compute_log_softmax_gradient}};

}  // namespace

template <typename T>
void log_softmax(const T* source, const AxisView& view, T* target) {
  log_softmax_of_any(source, view, target);
}

template void log_softmax(const float*, const AxisView&, float*);
template void log_softmax(const double*, const AxisView&, double*);

}  // namespace ort_train::kernels
