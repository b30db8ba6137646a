// MaxPoolGrad: every element of the input collects the gradients of the windows whose first maximum it is. cuDNN wants
// the places of the maxima instead, which the graph does not keep.
#include <utility>

#include "kernels/window.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

constexpr int spatial_axes = 3;

/// Extents and strides of one array as an image with three spatial axes; the first ones may have extent 1.
struct Image {
  std::int64_t channels = 0;
  std::int64_t spatial[spatial_axes] = {1, 1, 1};
  std::int64_t batch_stride = 0, channel_stride = 0;
  std::int64_t strides[spatial_axes] = {};
};

Image image_of(const Format& format) {
  Image image;
  const Dims dims = format.dims(), strides = format.strides();
  image.channels = dims[1];
  image.batch_stride = strides[0];
  image.channel_stride = strides[1];
  for (std::size_t axis = dims.size(), last = spatial_axes; axis-- > 2;) {
    --last;
    image.spatial[last] = dims[axis];
    image.strides[last] = strides[axis];
  }
  return image;
}

struct Taps {
  std::int64_t window[spatial_axes] = {1, 1, 1};
  std::int64_t strides[spatial_axes] = {1, 1, 1};
  std::int64_t dilations[spatial_axes] = {1, 1, 1};
  std::int64_t pads[spatial_axes] = {};
};

Taps taps_of(const kernels::Window& window) {
  Taps taps;
  for (std::size_t axis = window.kernel.size(), last = spatial_axes; axis-- > 0;) {
    --last;
    taps.window[last] = window.kernel[axis];
    taps.strides[last] = window.strides[axis];
    taps.dilations[last] = window.dilations[axis];
    taps.pads[last] = window.begin_pads[axis];
  }
  return taps;
}

template <typename T>
struct CollectGradients {
  In<T> dy, x, y;
  Out<T> dx;
  Image input, output;
  Taps taps;

  void arrays(Accesses& accesses) const { accesses(dy)(x)(y)(dx); }

  /// A NaN is a maximum like any other.
  __host__ __device__ static bool equal(Computed<T> a, Computed<T> b) { return a == b || (a != a && b != b); }

  /// Whether a tap before this one, in row-major order, holds the maximum too.
  __host__ __device__ bool has_earlier_maximum(std::int64_t base, const std::int64_t* at, const std::int64_t* tap,
                                               Computed<T> maximum) const {
    const std::int64_t number = (tap[0] * taps.window[1] + tap[1]) * taps.window[2] + tap[2];
    for (std::int64_t earlier = 0; earlier < number; ++earlier) {
      const std::int64_t other[spatial_axes] = {earlier / (taps.window[1] * taps.window[2]),
                                                earlier / taps.window[2] % taps.window[1], earlier % taps.window[2]};
      std::int64_t offset = base;
      bool inside = true;
      for (int axis = 0; axis < spatial_axes; ++axis) {
        const std::int64_t place = at[axis] * taps.strides[axis] - taps.pads[axis] + other[axis] * taps.dilations[axis];
        inside = inside && place >= 0 && place < input.spatial[axis];
        offset += place * input.strides[axis];
      }
      if (inside && equal(loaded(x[offset]), maximum)) return true;
    }
    return false;
  }

  __host__ __device__ void operator()(std::int64_t i) const {
    std::int64_t place[spatial_axes];
    std::int64_t rest = i;
    for (int axis = spatial_axes - 1; axis >= 0; --axis) {
      place[axis] = rest % input.spatial[axis];
      rest /= input.spatial[axis];
    }
    const std::int64_t channel = rest % input.channels, item = rest / input.channels;
    const std::int64_t in_base = item * input.batch_stride + channel * input.channel_stride;
    const std::int64_t out_base = item * output.batch_stride + channel * output.channel_stride;
    std::int64_t here = in_base;
    for (int axis = 0; axis < spatial_axes; ++axis) here += place[axis] * input.strides[axis];
    const Computed<T> value = loaded(x[here]);
    Computed<T> sum = 0;
    const std::int64_t count = taps.window[0] * taps.window[1] * taps.window[2];
    // From the last tap to the first, which meets the windows in their row-major order.
    for (std::int64_t number = count - 1; number >= 0; --number) {
      const std::int64_t tap[spatial_axes] = {number / (taps.window[1] * taps.window[2]),
                                              number / taps.window[2] % taps.window[1], number % taps.window[2]};
      std::int64_t at[spatial_axes];
      std::int64_t there = out_base;
      bool exists = true;
      for (int axis = 0; axis < spatial_axes; ++axis) {
        const std::int64_t begin = place[axis] + taps.pads[axis] - tap[axis] * taps.dilations[axis];
        exists = exists && begin >= 0 && begin % taps.strides[axis] == 0;
        at[axis] = begin / taps.strides[axis];
        exists = exists && at[axis] < output.spatial[axis];
        there += at[axis] * output.strides[axis];
      }
      if (!exists || !equal(value, loaded(y[there]))) continue;
      if (!has_earlier_maximum(in_base, at, tap, value)) sum += loaded(dy[there]);
    }
    dx[here] = stored<T>(sum);
  }
};

std::unique_ptr<Kernel> make_max_pool_gradient(const Request& request) {
  const Format like = request.input(1);
  const Dims image = like.dims();
  if (!FloatingTypes::contain(like.dtype()) || image.size() < 3 || image.size() > 5) return nullptr;
  const kernels::Window window =
      kernels::forward_window(request.node, kernels::spatial_dims(image), request.node.integers("kernel_shape"));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  // Whatever format the image lies in.
  const Format pooled = like.with(like.dtype(), request.plain_input(0).dims());
  kernel->inputs = {pooled, like, pooled};
  kernel->outputs = {like};
  kernel->launches = [taps = taps_of(window), input = image_of(like), output = image_of(pooled), dtype = like.dtype(),
                      count = like.size()](const LaunchedKernel& launched) {
    dispatch_any_floating(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      launched.for_each(count, CollectGradients<T>{launched.in<T>(0), launched.in<T>(1), launched.in<T>(2),
                                                   launched.out<T>(0), input, output, taps});
    });
  };
  return kernel;
}

const TrainingFactoryRegistration max_pool_gradient("MaxPoolGrad", make_max_pool_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
