// Convolutions in any number of spatial axes up to three, by direct loops whose innermost one runs over channels.
#include "tests/virtual_gpu/cudnn_elements.h"

namespace virtual_gpu {
namespace {

/// Extents with the spatial axes filled up to three by ones in front.
struct Geometry {
  std::int64_t image[3], filter[3], response[3], pads[3], strides[3], dilations[3];
  std::int64_t batch, channels, filters, group_channels, groups, group_filters, window;

  Geometry(const CudnnNode& node, const Extents& x, const Extents& w, const Extents& y) {
    const std::size_t spatial = x.size() - 2;
    if (spatial > 3) throw std::runtime_error("a convolution with more than three spatial axes");
    for (std::size_t i = 0; i < 3; ++i) {
      const bool real = i + spatial >= 3;
      const std::size_t axis = real ? i + spatial - 3 : 0;
      image[i] = real ? x[axis + 2] : 1;
      filter[i] = real ? w[axis + 2] : 1;
      response[i] = real ? y[axis + 2] : 1;
      pads[i] = real ? node.pads_begin[axis] : 0;
      strides[i] = real ? node.strides[axis] : 1;
      dilations[i] = real ? node.dilations[axis] : 1;
    }
    batch = x[0];
    channels = x[1];
    filters = w[0];
    group_channels = w[1];
    groups = channels / group_channels;
    group_filters = filters / groups;
    window = filter[0] * filter[1] * filter[2];
  }

  /// `visit(place in response, place in image, place in window)` for all that meet; places count whole channel vectors.
  template <typename Visit>
  void for_each_meeting(const Visit& visit) const {
    std::int64_t place = 0;
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t a = 0; a < response[0]; ++a) {
        for (std::int64_t b = 0; b < response[1]; ++b) {
          for (std::int64_t c = 0; c < response[2]; ++c, ++place) meet(n, {a, b, c}, place, visit);
        }
      }
    }
  }

 private:
  struct Place {
    std::int64_t at[3];
  };

  template <typename Visit>
  void meet(std::int64_t n, const Place& out, std::int64_t place, const Visit& visit) const {
    const auto source = [&](int axis, std::int64_t tap) {
      return out.at[axis] * strides[axis] - pads[axis] + tap * dilations[axis];
    };
    const auto inside = [&](int axis, std::int64_t position) { return position >= 0 && position < image[axis]; };
    for (std::int64_t r = 0; r < filter[0]; ++r) {
      const std::int64_t i = source(0, r);
      if (!inside(0, i)) continue;
      for (std::int64_t s = 0; s < filter[1]; ++s) {
        const std::int64_t j = source(1, s);
        if (!inside(1, j)) continue;
        for (std::int64_t t = 0; t < filter[2]; ++t) {
          const std::int64_t k = source(2, t);
          if (!inside(2, k)) continue;
          visit(place, ((n * image[0] + i) * image[1] + j) * image[2] + k, (r * filter[1] + s) * filter[2] + t);
        }
      }
    }
  }
};

/// out[columns] += vector[rows] * matrix[rows][columns]
template <typename T>
void add_product(T* __restrict out, const T* __restrict vector, const T* __restrict matrix, std::int64_t rows,
                 std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T factor = vector[r];
    for (std::int64_t c = 0; c < columns; ++c) out[c] += factor * matrix[r * columns + c];
  }
}

/// Filters [K, window, C/groups] as [group, window, C/groups, K/groups], or with the last two swapped.
template <typename T>
std::vector<T> by_group(const std::vector<T>& w, const Geometry& g, bool filters_innermost) {
  std::vector<T> result(w.size());
  for (std::int64_t k = 0; k < g.filters; ++k) {
    for (std::int64_t p = 0; p < g.window; ++p) {
      const std::int64_t block = ((k / g.group_filters) * g.window + p) * g.group_channels * g.group_filters;
      for (std::int64_t c = 0; c < g.group_channels; ++c) {
        const std::int64_t f = k % g.group_filters;
        const std::int64_t inner = filters_innermost ? c * g.group_filters + f : f * g.group_channels + c;
        result[static_cast<std::size_t>(block + inner)] =
            w[static_cast<std::size_t>((k * g.window + p) * g.group_channels + c)];
      }
    }
  }
  return result;
}

template <typename T>
void forward(Operands<T>& operands, const CudnnNode& node) {
  const int x_id = node.input(Role::x), w_id = node.input(Role::w), y_id = node.output(Role::y);
  const Geometry g(node, operands.tensor(x_id).dims, operands.tensor(w_id).dims, operands.tensor(y_id).dims);
  const std::vector<T> x = operands.load_channels_innermost(x_id);
  const std::vector<T> w = by_group(operands.load_channels_innermost(w_id), g, true);
  std::vector<T> y(static_cast<std::size_t>(operands.tensor(y_id).elements()), T{});
  g.for_each_meeting([&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t group = 0; group < g.groups; ++group) {
      add_product(&y[static_cast<std::size_t>(out * g.filters + group * g.group_filters)],
                  &x[static_cast<std::size_t>(in * g.channels + group * g.group_channels)],
                  &w[static_cast<std::size_t>((group * g.window + tap) * g.group_channels * g.group_filters)],
                  g.group_channels, g.group_filters);
    }
  });
  operands.store_channels_innermost(y_id, y);
}

template <typename T>
void data_gradient(Operands<T>& operands, const CudnnNode& node) {
  const int y_id = node.input(Role::dy), w_id = node.input(Role::w), x_id = node.output(Role::dx);
  const Geometry g(node, operands.tensor(x_id).dims, operands.tensor(w_id).dims, operands.tensor(y_id).dims);
  const std::vector<T> dy = operands.load_channels_innermost(y_id);
  const std::vector<T> w = by_group(operands.load_channels_innermost(w_id), g, false);
  std::vector<T> dx(static_cast<std::size_t>(operands.tensor(x_id).elements()), T{});
  g.for_each_meeting([&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t group = 0; group < g.groups; ++group) {
      add_product(&dx[static_cast<std::size_t>(in * g.channels + group * g.group_channels)],
                  &dy[static_cast<std::size_t>(out * g.filters + group * g.group_filters)],
                  &w[static_cast<std::size_t>((group * g.window + tap) * g.group_channels * g.group_filters)],
                  g.group_filters, g.group_channels);
    }
  });
  operands.store_channels_innermost(x_id, dx);
}

template <typename T>
void filter_gradient(Operands<T>& operands, const CudnnNode& node) {
  const int y_id = node.input(Role::dy), x_id = node.input(Role::x), w_id = node.output(Role::dw);
  const Geometry g(node, operands.tensor(x_id).dims, operands.tensor(w_id).dims, operands.tensor(y_id).dims);
  const std::vector<T> dy = operands.load_channels_innermost(y_id);
  const std::vector<T> x = operands.load_channels_innermost(x_id);
  std::vector<T> dw(static_cast<std::size_t>(operands.tensor(w_id).elements()), T{});
  g.for_each_meeting([&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t k = 0; k < g.filters; ++k) {
      const T factor = dy[static_cast<std::size_t>(out * g.filters + k)];
      add_product(&dw[static_cast<std::size_t>((k * g.window + tap) * g.group_channels)], &factor,
                  &x[static_cast<std::size_t>(in * g.channels + (k / g.group_filters) * g.group_channels)], 1,
                  g.group_channels);
    }
  });
  operands.store_channels_innermost(w_id, dw);
}

}  // namespace

template <typename T>
void compute_convolution(Operands<T>& operands, const CudnnNode& node) {
  switch (node.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return forward(operands, node);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return data_gradient(operands, node);
    default: return filter_gradient(operands, node);
  }
}

template void compute_convolution(Operands<float>&, const CudnnNode&);
template void compute_convolution(Operands<double>&, const CudnnNode&);

}  // namespace virtual_gpu
