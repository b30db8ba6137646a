#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/window.h"

namespace ort_train::kernels {

namespace {

constexpr std::int64_t nowhere = -1;

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <typename T>
T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

// The maximum of every window of one channel and where it lies. Taps come in row-major order, so that the first of
// equal maxima stays. A NaN wins over every number. A window that lies in the padding altogether finds nothing.
template <typename T>
void find_maxima(const WindowTable& table, const T* channel, std::vector<T>& maxima,
                 std::vector<std::int64_t>& places) {
  std::fill(maxima.begin(), maxima.end(), lowest<T>());
  std::fill(places.begin(), places.end(), nowhere);
  const std::int64_t stride = table.stride();
  table.for_each_run([&](std::int64_t out, std::int64_t in, std::int64_t count, std::int64_t) {
    T* maximum = maxima.data() + out;
    std::int64_t* place = places.data() + out;
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = channel[in + i * stride];
      if (value > maximum[i] || place[i] == nowhere || (is_nan(value) && !is_nan(maximum[i]))) {
        maximum[i] = value;
        place[i] = in + i * stride;
      }
    }
  });
}

// The number of a channel's element when its first spatial axis is counted fastest.
std::int64_t column_major(std::int64_t place, const Dims& dims) {
  std::int64_t result = 0, step = element_count(dims);
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    step /= dims[axis];
    result += place % dims[axis] * step;
    place /= dims[axis];
  }
  return result;
}

template <typename T>
void pool(const Window& window, const Tensor& x, Tensor& y, std::int64_t* indices, bool column_major_indices) {
  const WindowTable table(window);
  const std::int64_t input_size = window.input_size(), output_size = window.output_size();
  parallel_for(x.dims()[0] * x.dims()[1], 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> maxima(static_cast<std::size_t>(output_size));
    std::vector<std::int64_t> places(maxima.size());
    for (std::int64_t channel = begin; channel < end; ++channel) {
      find_maxima(table, x.data<T>() + channel * input_size, maxima, places);
      std::copy(maxima.begin(), maxima.end(), y.data<T>() + channel * output_size);
      if (indices == nullptr) continue;
      for (std::int64_t i = 0; i < output_size; ++i) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        const std::int64_t counted = column_major_indices ? column_major(place, window.input) : place;
        indices[channel * output_size + i] = place == nowhere ? nowhere : channel * input_size + counted;
      }
    }
  });
}

void compute_max_pool(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Window window = forward_window(call.node, spatial_dims(x.dims()), call.node.integers("kernel_shape"));
  const Dims dims = channel_dims(x.dims()[0], x.dims()[1], window.output);
  Tensor& y = output(call, 0, x.dtype(), dims);
  std::int64_t* indices = wants_output(call, 1) ? output(call, 1, DataType::int64, dims).data<std::int64_t>() : nullptr;
  const bool columns = call.node.integer("storage_order", 0) != 0;
  switch (x.dtype()) {
    case DataType::int8: return pool<std::int8_t>(window, x, y, indices, columns);
    case DataType::uint8: return pool<std::uint8_t>(window, x, y, indices, columns);
    default:
      dispatch_floating(x.dtype(),
                        [&](auto tag) { pool<typename decltype(tag)::type>(window, x, y, indices, columns); });
  }
}

void compute_max_pool_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  const Window window = forward_window(call.node, spatial_dims(x.dims()), call.node.integers("kernel_shape"));
  const Dims expected = channel_dims(x.dims()[0], x.dims()[1], window.output);
  if (gradient.dims() != expected) {
    fail("dY has the shape ", to_string(gradient.dims()), " where ", to_string(expected), " was expected");
  }
  Tensor& result = output(call, 0, x.dtype(), x.dims());
  const WindowTable table(window);
  const std::int64_t input_size = window.input_size(), output_size = window.output_size();
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(x.dims()[0] * x.dims()[1], 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> maxima(static_cast<std::size_t>(output_size));
      std::vector<std::int64_t> places(maxima.size());
      for (std::int64_t channel = begin; channel < end; ++channel) {
        find_maxima(table, x.data<T>() + channel * input_size, maxima, places);
        const T* dy = gradient.data<T>() + channel * output_size;
        T* dx = result.data<T>() + channel * input_size;
        std::fill(dx, dx + input_size, T{0});
        for (std::size_t i = 0; i < places.size(); ++i) {
          if (places[i] != nowhere) dx[places[i]] += dy[i];
        }
      }
    });
  });
}

const Registration max_pool("MaxPool", compute_max_pool);
const TrainingRegistration max_pool_grad("MaxPoolGrad", compute_max_pool_grad);

}  // namespace

}  // namespace ort_train::kernels
