// MaxPool and its gradient over images [N, C, H, W], float32, channel-blocked or row-major. The gradient finds the
// maxima again by comparing with Y, which is cheaper than keeping their places.
#include <cstring>
#include <limits>

#include "kernels/parallel.h"
#include "kernels/window.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/vector.h"

namespace ort_train::runtime::cpu {

namespace {

using ort_train::kernels::Window;

// Taps [begin, end) of the window at one output position that meet the input, along one axis, and where tap 0 lies.
struct Taps {
  std::int64_t begin = 0, end = 0, origin = 0;
};

std::vector<Taps> taps_along(const Window& window, std::size_t axis) {
  std::vector<Taps> all;
  for (std::int64_t o = 0; o < window.output[axis]; ++o) {
    Taps taps;
    taps.origin = o * window.strides[axis] - window.begin_pads[axis];
    const auto place = [&](std::int64_t tap) { return taps.origin + tap * window.dilations[axis]; };
    while (taps.begin < window.kernel[axis] && place(taps.begin) < 0) ++taps.begin;
    taps.end = window.kernel[axis];
    while (taps.end > taps.begin && place(taps.end - 1) >= window.input[axis]) --taps.end;
    all.push_back(taps);
  }
  return all;
}

struct Geometry {
  explicit Geometry(const Window& window)
      : rows(taps_along(window, 0)),
        columns(taps_along(window, 1)),
        row_step(window.dilations[0]),
        column_step(window.dilations[1]),
        width(window.input[1]),
        input_size(window.input_size()),
        output_size(window.output_size()) {}

  // A window that meets nothing but padding has no maximum; the plain kernel knows what to do.
  bool has_empty_window() const {
    for (const auto* axis : {&rows, &columns}) {
      for (const Taps& taps : *axis) {
        if (taps.begin >= taps.end) return true;
      }
    }
    return false;
  }

  std::vector<Taps> rows, columns;
  std::int64_t row_step, column_step, width, input_size, output_size;
};

// One tile is `block` neighbouring channels of one sample, [H, W, block].
template <int block>
struct PoolLoops {
  using Block = Lanes<block>;
  using Bits = BitLanes<block>;

  ORT_TRAIN_VECTORIZED static void maxima(const Geometry& g, const float* x, float* y) {
    for (const Taps& row : g.rows) {
      for (const Taps& column : g.columns) {
        Block best = lanes<block>(
            x +
            ((row.origin + row.begin * g.row_step) * g.width + column.origin + column.begin * g.column_step) * block);
        Block not_a_number = {};  // a NaN is larger than every number
        for (std::int64_t i = row.begin; i < row.end; ++i) {
          const float* line = x + ((row.origin + i * g.row_step) * g.width + column.origin) * block;
          for (std::int64_t j = column.begin; j < column.end; ++j) {
            const Block value = lanes<block>(line + j * g.column_step * block);
            best = best < value ? value : best;
            not_a_number = value != value ? value : not_a_number;
          }
        }
        best = not_a_number != not_a_number ? not_a_number : best;
        lanes<block>(y) = best;
        y += block;
      }
    }
  }

  // Each gradient goes to the first element of its window that has the bits of the maximum, which is a copy of it; so
  // NaNs find each other too.
  ORT_TRAIN_VECTORIZED static void gradients(const Geometry& g, const float* dy, const float* x, const float* y,
                                             float* dx) {
    const Block zero = {};
    std::memset(dx, 0, static_cast<std::size_t>(g.input_size * block) * sizeof(float));
    for (const Taps& row : g.rows) {
      for (const Taps& column : g.columns) {
        const Bits maximum = bits<block>(y);
        Block left = lanes<block>(dy);
        for (std::int64_t i = row.begin; i < row.end; ++i) {
          const std::int64_t line = ((row.origin + i * g.row_step) * g.width + column.origin) * block;
          for (std::int64_t j = column.begin; j < column.end; ++j) {
            const std::int64_t place = line + j * g.column_step * block;
            const Bits value = bits<block>(x + place);
            lanes<block>(dx + place) += value == maximum ? left : zero;
            left = value == maximum ? zero : left;
          }
        }
        y += block;
        dy += block;
      }
    }
  }
};

class PoolKernel : public Kernel {
 public:
  PoolKernel(const Geometry& geometry, const Format& x)
      : geometry_(geometry),
        block_(std::max<std::int64_t>(1, x.channel_block())),
        tiles_(x.dims()[0] * x.dims()[1] / block_) {
    name = block_ == 1 ? "own row-major" : "own blocked";
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }

 protected:
  // Calls body(first input element, first output element) for every tile, on all threads.
  template <typename Body>
  void for_each_tile(const Body& body) const {
    const std::int64_t input = geometry_.input_size * block_, output = geometry_.output_size * block_;
    const std::int64_t grain = std::max<std::int64_t>(1, ort_train::kernels::costly_grain / input);
    ort_train::kernels::parallel_for(tiles_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end; ++tile) body(tile * input, tile * output);
    });
  }

  Geometry geometry_;
  std::int64_t block_, tiles_;
  Pointers pointers_;
};

class MaxPoolKernel : public PoolKernel {
 public:
  using PoolKernel::PoolKernel;
  void run() override {
    with_block(block_, [&](auto block) {
      for_each_tile([&](std::int64_t input, std::int64_t output) {
        PoolLoops<block()>::maxima(geometry_, pointers_.input<float>(0) + input, pointers_.output<float>(0) + output);
      });
    });
  }
};

class MaxPoolGradKernel : public PoolKernel {
 public:
  using PoolKernel::PoolKernel;
  void run() override {
    with_block(block_, [&](auto block) {
      for_each_tile([&](std::int64_t input, std::int64_t output) {
        PoolLoops<block()>::gradients(geometry_, pointers_.input<float>(0) + output, pointers_.input<float>(1) + input,
                                      pointers_.input<float>(2) + output, pointers_.output<float>(0) + input);
      });
    });
  }
};

// `y` in the format that goes with that of `x`.
Format like(const Format& y, const Format& x) {
  return x.channel_block() == 0 ? y : Format::of(channel_blocked_desc(y.dims(), x.channel_block()));
}

// The format for X: channel-blocked where one of the given inputs is, and the channels need no padding.
Format choose_format(const Request& request, std::size_t x, const std::vector<std::size_t>& candidates) {
  Format plain = request.plain_input(x);
  for (const std::size_t index : candidates) {
    const std::int64_t block = request.input(index).channel_block();
    if (block != 0 && plain.dims()[1] % block == 0) return Format::of(channel_blocked_desc(plain.dims(), block));
  }
  return plain;
}

bool is_image(const Request& request, const Format& x) {
  return request.all_of_type(DataType::float32) && x.dims().size() == 4 && x.size() != 0;
}

Geometry geometry_of(const Request& request, const Format& x) {
  return Geometry(ort_train::kernels::forward_window(request.node, {x.dims()[2], x.dims()[3]},
                                                     request.node.integers("kernel_shape")));
}

std::unique_ptr<Kernel> make_max_pool(const Request& request) {
  if (!is_image(request, request.plain_input(0)) || request.has_output(1)) return nullptr;
  const Format x = choose_format(request, 0, {0});
  const Geometry geometry = geometry_of(request, x);
  if (geometry.has_empty_window()) return nullptr;
  auto kernel = std::make_unique<MaxPoolKernel>(geometry, x);
  kernel->inputs = {x};
  kernel->outputs = request.plain_outputs();
  kernel->outputs[0] = like(request.plain_output(0), x);
  return kernel;
}

std::unique_ptr<Kernel> make_max_pool_grad(const Request& request) {
  if (!is_image(request, request.plain_input(1))) return nullptr;
  const Format x = choose_format(request, 1, {1, 2, 0});
  const Geometry geometry = geometry_of(request, x);
  if (geometry.has_empty_window()) return nullptr;
  auto kernel = std::make_unique<MaxPoolGradKernel>(geometry, x);
  const Format y = like(request.plain_input(0), x);
  kernel->inputs = {y, x, y};
  kernel->outputs = {x};
  return kernel;
}

const FactoryRegistration max_pool("MaxPool", make_max_pool);
const TrainingFactoryRegistration max_pool_grad("MaxPoolGrad", make_max_pool_grad);

}  // namespace

}  // namespace ort_train::runtime::cpu
