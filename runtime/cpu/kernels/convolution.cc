// Conv, ConvGradInput (also the forward of ConvTranspose) and ConvGradWeight by oneDNN, float32.
#include <optional>

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernels/winograd.h"
#include "runtime/cpu/onednn_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

constexpr auto float32 = dnnl::memory::data_type::f32;
constexpr auto direct = dnnl::algorithm::convolution_direct;

// The window of a convolution as oneDNN wants it: dilation 0 is a dense kernel.
struct Geometry {
  Dims strides, dilations, padding_begin, padding_end;
  std::int64_t group = 1;
};

// Nothing where the node has padding that oneDNN does not know.
std::optional<Geometry> geometry_of(const graph::Node& node, std::size_t spatial_rank) {
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  Geometry geometry;
  geometry.strides = node.integers("strides", Dims(spatial_rank, 1));
  geometry.dilations = node.integers("dilations", Dims(spatial_rank, 1));
  for (std::int64_t& dilation : geometry.dilations) --dilation;
  const Dims pads = node.integers("pads", Dims(2 * spatial_rank, 0));
  if (pads.size() != 2 * spatial_rank) return std::nullopt;
  for (const std::int64_t pad : pads) {
    if (pad < 0) return std::nullopt;
  }
  geometry.padding_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial_rank));
  geometry.padding_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial_rank), pads.end());
  geometry.group = node.integer("group", 1);
  return geometry;
}

// [O, I/G, ...] becomes [G, O/G, I/G, ...].
Dims grouped(const Dims& weight, std::int64_t group) {
  if (group == 1) return weight;
  Dims dims = weight;
  dims[0] /= group;
  dims.insert(dims.begin(), group);
  return dims;
}

Desc any_layout(const Dims& dims) { return {dims, float32, Tag::any}; }

struct Layouts {
  Desc x, y;
};

// Pairs of layouts for the two activations, best first: those they have already, the usual blocked one for the other,
// whatever oneDNN likes.
std::vector<Layouts> candidates(const Request& request, const Format& x, const Format& y, bool x_given, bool y_given) {
  const auto preferred = [&](const Format& format, bool given) {
    if (given && !format.is_plain()) return format.desc();
    const std::int64_t block = request.context.channel_block;
    const bool fits = block != 0 && format.dims()[1] % block == 0;
    return fits ? channel_blocked_desc(format.dims(), block) : any_layout(format.dims());
  };
  std::vector<Layouts> layouts;
  layouts.push_back({preferred(x, x_given), preferred(y, y_given)});
  if (x_given && !x.is_plain()) layouts.push_back({x.desc(), any_layout(y.dims())});
  if (y_given && !y.is_plain()) layouts.push_back({any_layout(x.dims()), y.desc()});
  layouts.push_back({any_layout(x.dims()), any_layout(y.dims())});
  return layouts;
}

// The primitive for the first candidate that has a fast implementation, or nothing.
template <typename Primitive, typename Create>
std::optional<Primitive> first_fast(const std::vector<Layouts>& layouts, const Create& create) {
  for (const Layouts& pair : layouts) {
    try {
      const Primitive primitive = create(pair);
      if (!is_slow_implementation(primitive)) return primitive;
    } catch (const dnnl::error&) {
      // This combination has no implementation.
    }
  }
  return std::nullopt;
}

bool is_float32_image(const Request& request, const Dims& dims) {
  return request.all_of_type(DataType::float32) && dims.size() >= 3 && dims.size() <= 5 && element_count(dims) > 0;
}

// What the backward primitives want to know of the forward one.
dnnl::convolution_forward::primitive_desc forward_hint(const Request& request, const Geometry& geometry,
                                                       const Layouts& pair, const Dims& weight) {
  return {request.context.engine,
          dnnl::prop_kind::forward_training,
          direct,
          pair.x,
          any_layout(weight),
          pair.y,
          geometry.strides,
          geometry.dilations,
          geometry.padding_begin,
          geometry.padding_end};
}

bool is_small_dense_window(const Geometry& geometry, const Dims& weight) {
  return weight.size() == 4 && weight[2] == 3 && weight[3] == 3 && geometry.group == 1 &&
         geometry.strides == Dims{1, 1} && geometry.dilations == Dims{0, 0};
}

// Seen from the forward convolution of X to Y, or from the one that turns dY into dX: the other way round.
WinogradShape winograd_shape(const Dims& from, const Dims& to, std::int64_t pad_top, std::int64_t pad_left) {
  return {from[0], from[1], to[1], from[2], from[3], to[2], to[3], pad_top, pad_left};
}

std::unique_ptr<Kernel> make_convolution(const Request& request) {
  const Format x = request.input(0), y = request.plain_output(0);
  if (!is_float32_image(request, x.dims()) || y.size() == 0) return nullptr;
  const auto geometry = geometry_of(request.node, x.dims().size() - 2);
  if (!geometry) return nullptr;
  const Dims weight = request.plain_input(1).dims();
  const bool has_bias = request.has_input(2);
  if (is_small_dense_window(*geometry, weight)) {
    const auto shape = winograd_shape(x.dims(), y.dims(), geometry->padding_begin[0], geometry->padding_begin[1]);
    if (winograd_fits(shape, request.context)) {
      return make_winograd(request, shape, WinogradUse::forward, has_bias);
    }
  }

  const Desc bias = has_bias ? request.plain_input(2).desc() : Desc();
  std::vector<Layouts> layouts;
  if (!x.is_plain()) layouts.push_back({x.desc(), any_layout(y.dims())});
  layouts.push_back({any_layout(x.dims()), any_layout(y.dims())});
  using Primitive = dnnl::convolution_forward::primitive_desc;
  const auto primitive = first_fast<Primitive>(layouts, [&](const Layouts& pair) {
    return Primitive(request.context.engine, dnnl::prop_kind::forward_training, direct, pair.x,
                     any_layout(grouped(weight, geometry->group)), bias, pair.y, geometry->strides, geometry->dilations,
                     geometry->padding_begin, geometry->padding_end, scratchpad_by_user());
  });
  if (!primitive) return nullptr;

  auto kernel = std::make_unique<OnednnKernel>(request.context, dnnl::convolution_forward(*primitive),
                                               primitive->impl_info_str());
  kernel->inputs = request.plain_inputs();
  kernel->inputs[0] = Format::of(primitive->src_desc());
  kernel->inputs[1] = Format::of(primitive->weights_desc(), weight);
  kernel->outputs = {Format::of(primitive->dst_desc())};
  kernel->reads(DNNL_ARG_SRC, primitive->src_desc(), 0);
  kernel->reads(DNNL_ARG_WEIGHTS, primitive->weights_desc(), 1);
  if (has_bias) kernel->reads(DNNL_ARG_BIAS, bias, 2);
  kernel->writes(DNNL_ARG_DST, primitive->dst_desc(), 0);
  kernel->uses_scratchpad(primitive->scratchpad_desc());
  return kernel;
}

std::unique_ptr<Kernel> make_gradient_of_input(const Request& request) {
  const Format dy = request.input(0), dx = request.plain_output(0);
  if (!is_float32_image(request, dx.dims()) || dy.size() == 0) return nullptr;
  const auto geometry = geometry_of(request.node, dx.dims().size() - 2);
  if (!geometry) return nullptr;
  const Dims weight = request.plain_input(1).dims(), grouped_weight = grouped(weight, geometry->group);
  if (is_small_dense_window(*geometry, weight)) {
    const auto shape =
        winograd_shape(dy.dims(), dx.dims(), 2 - geometry->padding_begin[0], 2 - geometry->padding_begin[1]);
    if (winograd_fits(shape, request.context)) {
      return make_winograd(request, shape, WinogradUse::gradient_of_input, false);
    }
  }

  using Primitive = dnnl::convolution_backward_data::primitive_desc;
  const auto primitive = first_fast<Primitive>(candidates(request, dx, dy, false, true), [&](const Layouts& pair) {
    return Primitive(request.context.engine, direct, pair.x, any_layout(grouped_weight), pair.y, geometry->strides,
                     geometry->dilations, geometry->padding_begin, geometry->padding_end,
                     forward_hint(request, *geometry, pair, grouped_weight), scratchpad_by_user());
  });
  if (!primitive) return nullptr;

  auto kernel = std::make_unique<OnednnKernel>(request.context, dnnl::convolution_backward_data(*primitive),
                                               primitive->impl_info_str());
  kernel->inputs = {Format::of(primitive->diff_dst_desc()), Format::of(primitive->weights_desc(), weight)};
  kernel->outputs = {Format::of(primitive->diff_src_desc())};
  kernel->reads(DNNL_ARG_DIFF_DST, primitive->diff_dst_desc(), 0);
  kernel->reads(DNNL_ARG_WEIGHTS, primitive->weights_desc(), 1);
  kernel->writes(DNNL_ARG_DIFF_SRC, primitive->diff_src_desc(), 0);
  kernel->uses_scratchpad(primitive->scratchpad_desc());
  return kernel;
}

std::unique_ptr<Kernel> make_gradient_of_weight(const Request& request) {
  const Format dy = request.input(0), x = request.input(1), dw = request.plain_output(0);
  if (!is_float32_image(request, x.dims()) || dy.size() == 0) return nullptr;
  const auto geometry = geometry_of(request.node, x.dims().size() - 2);
  if (!geometry) return nullptr;
  const Dims grouped_weight = grouped(dw.dims(), geometry->group);
  const bool has_bias = request.has_output(1);
  const Desc bias = has_bias ? request.plain_output(1).desc() : Desc();

  using Primitive = dnnl::convolution_backward_weights::primitive_desc;
  std::vector<Layouts> layouts;
  if (x.is_plain() && !dy.is_plain()) layouts.push_back({any_layout(x.dims()), dy.desc()});
  for (const Layouts& pair : candidates(request, x, dy, true, true)) layouts.push_back(pair);
  const auto primitive = first_fast<Primitive>(layouts, [&](const Layouts& pair) {
    return Primitive(request.context.engine, direct, pair.x, any_layout(grouped_weight), bias, pair.y,
                     geometry->strides, geometry->dilations, geometry->padding_begin, geometry->padding_end,
                     forward_hint(request, *geometry, pair, grouped_weight), scratchpad_by_user());
  });
  if (!primitive) return nullptr;

  auto kernel = std::make_unique<OnednnKernel>(request.context, dnnl::convolution_backward_weights(*primitive),
                                               primitive->impl_info_str());
  kernel->inputs = {Format::of(primitive->diff_dst_desc()), Format::of(primitive->src_desc())};
  kernel->outputs = request.plain_outputs();
  kernel->outputs[0] = Format::of(primitive->diff_weights_desc(), dw.dims());
  kernel->reads(DNNL_ARG_DIFF_DST, primitive->diff_dst_desc(), 0);
  kernel->reads(DNNL_ARG_SRC, primitive->src_desc(), 1);
  kernel->writes(DNNL_ARG_DIFF_WEIGHTS, primitive->diff_weights_desc(), 0);
  if (has_bias) kernel->writes(DNNL_ARG_DIFF_BIAS, bias, 1);
  kernel->uses_scratchpad(primitive->scratchpad_desc());
  return kernel;
}

const FactoryRegistration convolution("Conv", make_convolution);
const TrainingFactoryRegistration gradient_of_input("ConvGradInput", make_gradient_of_input);
const TrainingFactoryRegistration gradient_of_weight("ConvGradWeight", make_gradient_of_weight);

}  // namespace

}  // namespace ort_train::runtime::cpu
