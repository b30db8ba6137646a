// Gradients of pooling.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

std::vector<std::int64_t> spatial_dims(const Value* value) {
  const Dims dims = value->dims();
  return {dims.begin() + 2, dims.end()};
}

/// The geometry of a pool, every attribute explicit.
Attributes geometry(const graph::Node& node) {
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") {
    fail(describe(node), ": auto_pad ", auto_pad, " must be resolved to explicit pads before gradients are built");
  }
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  const std::vector<std::int64_t> ones(kernel.size(), 1);
  return {{"kernel_shape", kernel},
          {"strides", node.integers("strides", ones)},
          {"dilations", node.integers("dilations", ones)},
          {"pads", node.integers("pads", std::vector<std::int64_t>(2 * kernel.size(), 0))},
          {"ceil_mode", node.integer("ceil_mode", 0)}};
}

void set_max_pool_gradient(GradientContext& context, Attributes attributes) {
  context.set(0, context.builder().emit_training(
                     "MaxPoolGrad", {context.output_gradient(), context.input(0), context.output()}, attributes));
}

void max_pool_gradient(GradientContext& context) { set_max_pool_gradient(context, geometry(context.node())); }

void average_pool_gradient(GradientContext& context) {
  Attributes attributes = geometry(context.node());
  attributes["count_include_pad"] = context.node().integer("count_include_pad", 0);
  attributes["input_shape"] = std::vector<std::int64_t>(context.input(0)->dims());
  context.set(0, context.builder().emit_training("AveragePoolGrad", {context.output_gradient()}, attributes));
}

/// A pool whose window is the whole image.
void global_max_pool_gradient(GradientContext& context) {
  const std::vector<std::int64_t> window = spatial_dims(context.input(0));
  const std::vector<std::int64_t> ones(window.size(), 1);
  set_max_pool_gradient(context, {{"kernel_shape", window},
                                  {"strides", ones},
                                  {"dilations", ones},
                                  {"pads", std::vector<std::int64_t>(2 * window.size(), 0)},
                                  {"ceil_mode", std::int64_t{0}}});
}

void global_average_pool_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  const std::int64_t pixels = element_count(spatial_dims(context.input(0)));
  Value* share = scaled(builder, context.output_gradient(), 1.0 / static_cast<double>(pixels));
  context.set(0, builder.expand(share, context.input(0)->dims()));
}

const GradientRegistration max_pool_rule("MaxPool", max_pool_gradient);
const GradientRegistration average_pool_rule("AveragePool", average_pool_gradient);
const GradientRegistration global_max_pool_rule("GlobalMaxPool", global_max_pool_gradient);
const GradientRegistration global_average_pool_rule("GlobalAveragePool", global_average_pool_gradient);

}  // namespace
}  // namespace ort_train::passes
