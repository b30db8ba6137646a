// Pooling and its gradient. The index of a maximum is its place in the window, padding included, row-major; the real
// library may number it otherwise, but only its own gradient reads it.
#include <limits>

#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

struct Window {
  std::int64_t image[3], window[3], pooled[3], pads[3], strides[3];
  std::int64_t batch, channels, size;

  Window(const CudnnNode& node, const Extents& x, const Extents& y) {
    const std::size_t spatial = x.size() - 2;
    if (spatial > 3) throw std::runtime_error("a pooling with more than three spatial axes");
    for (std::size_t i = 0; i < 3; ++i) {
      const bool real = i + spatial >= 3;
      const std::size_t axis = real ? i + spatial - 3 : 0;
      image[i] = real ? x[axis + 2] : 1;
      pooled[i] = real ? y[axis + 2] : 1;
      window[i] = real ? node.window[axis] : 1;
      pads[i] = real ? node.pads_begin[axis] : 0;
      strides[i] = real ? node.strides[axis] : 1;
    }
    batch = x[0];
    channels = x[1];
    size = window[0] * window[1] * window[2];
  }

  std::int64_t places() const { return batch * pooled[0] * pooled[1] * pooled[2]; }

  /// `visit(place in the image, place in the window)` for the places of one window inside the image.
  template <typename Visit>
  void for_each_tap(std::int64_t place, const Visit& visit) const {
    std::int64_t out[3];
    for (int axis = 2; axis >= 0; --axis) {
      out[axis] = place % pooled[axis];
      place /= pooled[axis];
    }
    for (std::int64_t tap = 0; tap < size; ++tap) {
      const std::int64_t at[3] = {tap / (window[1] * window[2]), tap / window[2] % window[1], tap % window[2]};
      std::int64_t in = place;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t position = out[axis] * strides[axis] - pads[axis] + at[axis];
        inside = inside && position >= 0 && position < image[axis];
        in = in * image[axis] + position;
      }
      if (inside) visit(in, tap);
    }
  }

  std::int64_t taps_inside(std::int64_t place) const {
    std::int64_t count = 0;
    for_each_tap(place, [&](std::int64_t, std::int64_t) { ++count; });
    return count;
  }

  /// What a mean divides by.
  std::int64_t divisor(int mode, std::int64_t place) const {
    return mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING ? size : taps_inside(place);
  }
};

bool is_maximum(int mode) { return mode == CUDNN_RESAMPLE_MAXPOOL; }

void check_mode(int mode) {
  if (!is_maximum(mode) && mode != CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING &&
      mode != CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING) {
    throw std::runtime_error("resample mode " + std::to_string(mode) + " is not computed on virtual GPUs");
  }
}

template <typename T>
void forward(Operands<T>& operands, const CudnnNode& node) {
  const int x_id = node.input(Role::x), y_id = node.output(Role::y);
  const Window w(node, operands.tensor(x_id).dims, operands.tensor(y_id).dims);
  const std::vector<T> x = operands.load_channels_innermost(x_id);
  const T start = is_maximum(node.mode) ? -std::numeric_limits<T>::infinity() : T{};
  std::vector<T> y(static_cast<std::size_t>(operands.tensor(y_id).elements()), start);
  std::vector<T> index(y.size(), T{});
  for (std::int64_t place = 0; place < w.places(); ++place) {
    T* out = &y[static_cast<std::size_t>(place * w.channels)];
    T* chosen = &index[static_cast<std::size_t>(place * w.channels)];
    w.for_each_tap(place, [&](std::int64_t in, std::int64_t tap) {
      const T* from = &x[static_cast<std::size_t>(in * w.channels)];
      for (std::int64_t c = 0; c < w.channels; ++c) {
        if (!is_maximum(node.mode)) {
          out[c] += from[c];
        } else if (from[c] > out[c]) {
          out[c] = from[c];
          chosen[c] = static_cast<T>(tap);
        }
      }
    });
    if (is_maximum(node.mode)) continue;
    const T divisor = static_cast<T>(w.divisor(node.mode, place));
    for (std::int64_t c = 0; c < w.channels; ++c) out[c] /= divisor;
  }
  operands.store_channels_innermost(y_id, y);
  if (!node.has_output(Role::index)) return;
  if (w.size > 127) throw std::runtime_error("a pooling window too large for an 8-bit index");
  operands.store_channels_innermost(node.output(Role::index), index);
}

template <typename T>
void backward(Operands<T>& operands, const CudnnNode& node) {
  const int y_id = node.input(Role::dy), x_id = node.output(Role::dx);
  const Window w(node, operands.tensor(x_id).dims, operands.tensor(y_id).dims);
  const std::vector<T> dy = operands.load_channels_innermost(y_id);
  const std::vector<T> index =
      is_maximum(node.mode) ? operands.load_channels_innermost(node.input(Role::index)) : std::vector<T>();
  std::vector<T> dx(static_cast<std::size_t>(operands.tensor(x_id).elements()), T{});
  for (std::int64_t place = 0; place < w.places(); ++place) {
    const auto first = static_cast<std::size_t>(place * w.channels);
    const T share = is_maximum(node.mode) ? T{1} : T{1} / static_cast<T>(w.divisor(node.mode, place));
    w.for_each_tap(place, [&](std::int64_t in, std::int64_t tap) {
      T* to = &dx[static_cast<std::size_t>(in * w.channels)];
      for (std::int64_t c = 0; c < w.channels; ++c) {
        const auto at = first + static_cast<std::size_t>(c);
        if (!is_maximum(node.mode) || index[at] == static_cast<T>(tap)) to[c] += dy[at] * share;
      }
    });
  }
  operands.store_channels_innermost(x_id, dx);
}

}  // namespace

template <typename T>
void compute_pooling(Operands<T>& operands, const CudnnNode& node) {
  check_mode(node.mode);
  if (node.type == CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR) return forward(operands, node);
  backward(operands, node);
}

template void compute_pooling(Operands<float>&, const CudnnNode&);
template void compute_pooling(Operands<double>&, const CudnnNode&);

}  // namespace virtual_gpu
