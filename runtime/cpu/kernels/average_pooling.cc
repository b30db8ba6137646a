// AveragePool, GlobalAveragePool and AveragePoolGrad by oneDNN, float32, and the Expand that is the gradient of
// GlobalAveragePool.
#include <optional>

#include "kernels/parallel.h"
#include "kernels/window.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/onednn_kernel.h"
#include "runtime/cpu/vector.h"

namespace ort_train::runtime::cpu {

namespace {

using ort_train::kernels::Window;

struct Geometry {
  dnnl::algorithm algorithm;
  Dims strides, kernel, dilations, begin_pads, end_pads;
};

Dims spatial(const Format& x) { return {x.dims().begin() + 2, x.dims().end()}; }

Geometry whole_image(const Format& x) {
  const std::size_t axes = x.dims().size() - 2;
  return {dnnl::algorithm::pooling_avg_exclude_padding,
          Dims(axes, 1),
          spatial(x),
          Dims(axes, 0),
          Dims(axes, 0),
          Dims(axes, 0)};
}

// Nothing where the padding that ceil_mode adds would have to be told apart from the padding that counts.
std::optional<Geometry> geometry_of(const graph::Node& node, const Format& x) {
  const Window window = ort_train::kernels::forward_window(node, spatial(x), node.integers("kernel_shape"));
  const bool count_padding = node.integer("count_include_pad", 0) != 0;
  Geometry geometry{
      count_padding ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding,
      window.strides,
      window.kernel,
      window.dilations,
      window.begin_pads,
      window.end_pads};
  for (std::size_t axis = 0; axis < window.input.size(); ++axis) {
    --geometry.dilations[axis];
    const std::int64_t reached =
        (window.output[axis] - 1) * window.strides[axis] + (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const std::int64_t needed = reached - window.input[axis] - window.begin_pads[axis];
    if (needed <= window.end_pads[axis]) continue;
    if (count_padding) return std::nullopt;
    geometry.end_pads[axis] = needed;
  }
  return geometry;
}

bool is_float32_image(const Request& request, const Format& x) {
  return request.all_of_type(DataType::float32) && x.dims().size() >= 3 && x.dims().size() <= 5 && x.size() != 0;
}

// The layout that the array has, or the blocked one if `block` channels need no padding.
dnnl::memory::desc layout_for(const Format& format, std::int64_t block) {
  const bool fits = block != 0 && format.dims()[1] % block == 0;
  return fits ? channel_blocked_desc(format.dims(), block) : row_major_desc(format.dims());
}

using Forward = dnnl::pooling_forward::primitive_desc;
using Backward = dnnl::pooling_backward::primitive_desc;

Forward forward_primitive(const Context& context, const Geometry& geometry, const dnnl::memory::desc& x,
                          const dnnl::memory::desc& y) {
  return {context.engine,
          dnnl::prop_kind::forward_training,
          geometry.algorithm,
          x,
          y,
          geometry.strides,
          geometry.kernel,
          geometry.dilations,
          geometry.begin_pads,
          geometry.end_pads,
          scratchpad_by_user()};
}

std::unique_ptr<Kernel> make_forward(const Request& request, const Geometry& geometry) {
  const std::int64_t block = request.input(0).channel_block();
  const auto x = layout_for(request.plain_input(0), block), y = layout_for(request.plain_output(0), block);
  try {
    const Forward primitive = forward_primitive(request.context, geometry, x, y);
    if (is_slow_implementation(primitive)) return nullptr;
    auto kernel =
        std::make_unique<OnednnKernel>(request.context, dnnl::pooling_forward(primitive), primitive.impl_info_str());
    kernel->inputs = {Format::of(x)};
    kernel->outputs = {Format::of(y)};
    kernel->reads(DNNL_ARG_SRC, x, 0);
    kernel->writes(DNNL_ARG_DST, y, 0);
    kernel->uses_scratchpad(primitive.scratchpad_desc());
    return kernel;
  } catch (const dnnl::error&) {
    return nullptr;  // not a window that oneDNN knows
  }
}

std::unique_ptr<Kernel> make_backward(const Request& request, const Geometry& geometry) {
  const std::int64_t given = request.input(0).channel_block();
  const std::int64_t block = given != 0 ? given : request.context.channel_block;
  const auto dx = layout_for(request.plain_output(0), block), dy = layout_for(request.plain_input(0), block);
  try {
    const Backward primitive(request.context.engine, geometry.algorithm, dx, dy, geometry.strides, geometry.kernel,
                             geometry.dilations, geometry.begin_pads, geometry.end_pads,
                             forward_primitive(request.context, geometry, dx, dy), scratchpad_by_user());
    if (is_slow_implementation(primitive)) return nullptr;
    auto kernel =
        std::make_unique<OnednnKernel>(request.context, dnnl::pooling_backward(primitive), primitive.impl_info_str());
    kernel->inputs = {Format::of(dy)};
    kernel->outputs = {Format::of(dx)};
    kernel->reads(DNNL_ARG_DIFF_DST, dy, 0);
    kernel->writes(DNNL_ARG_DIFF_SRC, dx, 0);
    kernel->uses_scratchpad(primitive.scratchpad_desc());
    return kernel;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

std::unique_ptr<Kernel> make_average_pool(const Request& request) {
  if (!is_float32_image(request, request.plain_input(0)) || request.plain_output(0).size() == 0) return nullptr;
  const auto geometry = geometry_of(request.node, request.plain_input(0));
  return geometry ? make_forward(request, *geometry) : nullptr;
}

std::unique_ptr<Kernel> make_global_average_pool(const Request& request) {
  if (!is_float32_image(request, request.plain_input(0))) return nullptr;
  return make_forward(request, whole_image(request.plain_input(0)));
}

std::unique_ptr<Kernel> make_average_pool_grad(const Request& request) {
  if (!is_float32_image(request, request.plain_output(0)) || request.plain_input(0).size() == 0) return nullptr;
  const auto geometry = geometry_of(request.node, request.plain_output(0));
  return geometry ? make_backward(request, *geometry) : nullptr;
}

// [N, C, 1, ...] repeated over all pixels, channel-blocked.
class SpreadKernel : public Kernel {
 public:
  SpreadKernel(const Format& y, std::int64_t block)
      : block_(block), tiles_(y.dims()[0] * y.dims()[1] / block), pixels_(y.size() / (y.dims()[0] * y.dims()[1])) {
    name = "own blocked";
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override {
    with_block(block_, [&](auto block) {
      const std::int64_t grain = std::max<std::int64_t>(1, ort_train::kernels::cheap_grain / (pixels_ * block_));
      ort_train::kernels::parallel_for(tiles_, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t tile = begin; tile < end; ++tile) {
          const Lanes<block()>& value = lanes<block()>(pointers_.input<float>(0) + tile * block_);
          float* out = pointers_.output<float>(0) + tile * pixels_ * block_;
          for (std::int64_t i = 0; i < pixels_; ++i) lanes<block()>(out + i * block_) = value;
        }
      });
    });
  }

 private:
  std::int64_t block_, tiles_, pixels_;
  Pointers pointers_;
};

std::unique_ptr<Kernel> make_expand(const Request& request) {
  const Format x = request.plain_input(0), y = request.plain_output(0);
  const std::int64_t block = request.context.channel_block;
  if (y.dtype() != DataType::float32 || y.dims().size() < 3 || y.dims().size() > 5 || y.size() == 0) return nullptr;
  if (block == 0 || x.dims().size() != y.dims().size()) return nullptr;
  if (x.dims()[0] != y.dims()[0] || x.dims()[1] != y.dims()[1] || y.dims()[1] % block != 0) return nullptr;
  if (x.size() != x.dims()[0] * x.dims()[1]) return nullptr;
  auto kernel = std::make_unique<SpreadKernel>(y, block);
  kernel->inputs = request.plain_inputs();
  kernel->outputs = {Format::of(channel_blocked_desc(y.dims(), block))};
  return kernel;
}

const FactoryRegistration average_pool("AveragePool", make_average_pool);
const FactoryRegistration global_average_pool("GlobalAveragePool", make_global_average_pool);
const FactoryRegistration expand("Expand", make_expand);
const TrainingFactoryRegistration average_pool_grad("AveragePoolGrad", make_average_pool_grad);

}  // namespace

}  // namespace ort_train::runtime::cpu
