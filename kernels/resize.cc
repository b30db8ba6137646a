#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dispatch.h"
#include "kernels/indexing.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

namespace {

// Interpolation is separable: every axis is resized on its own, as the ONNX text of Resize describes it in one
// dimension.
struct Axis {
  std::int64_t input, output;
  double scale;
  double roi_begin = 0, roi_end = 1;
};

// Elements first, first + 1, ... of the axis and their weights; those outside repeat the nearest one inside.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> weights;
  bool extrapolated = false;
};

struct Options {
  std::string mode, nearest_mode, transformation;
  double cubic_coefficient, extrapolation_value;
  bool antialias, exclude_outside;
};

Options options_of(const graph::Node& node) {
  return {node.string("mode", "nearest"),
          node.string("nearest_mode", "round_prefer_floor"),
          node.string("coordinate_transformation_mode", "half_pixel"),
          static_cast<double>(node.real("cubic_coeff_a", -0.75f)),
          static_cast<double>(node.real("extrapolation_value", 0.0f)),
          node.integer("antialias", 0) != 0,
          node.integer("exclude_outside", 0) != 0};
}

// Where the output element lies among the input elements.
double original_position(const Options& options, const Axis& axis, std::int64_t position) {
  const auto x = static_cast<double>(position), input = static_cast<double>(axis.input);
  const double resized = axis.scale * input;  // need not be a whole number
  const std::string& mode = options.transformation;
  if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (mode == "pytorch_half_pixel") return resized == 1 ? -0.5 : (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.output) / resized;
    return input / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode == "align_corners") return resized == 1 ? 0.0 : x * (input - 1) / (resized - 1);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double part = axis.roi_end - axis.roi_begin;
    const double within = resized == 1 ? part * (input - 1) / 2 : x * part * (input - 1) / (resized - 1);
    return within + axis.roi_begin * (input - 1);
  }
  fail("the coordinate_transformation_mode '", mode, "' is unknown");
}

std::int64_t nearest(const Options& options, double position) {
  const std::string& mode = options.nearest_mode;
  if (mode == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(position - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(position + 0.5));
  if (mode == "floor") return static_cast<std::int64_t>(std::floor(position));
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(position));
  fail("the nearest_mode '", mode, "' is unknown");
}

double triangle(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }

// R. Keys, "Cubic convolution interpolation for digital image processing" (1981).
double cubic(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

Taps taps_of(const Options& options, const Axis& axis, std::int64_t position) {
  const double x = original_position(options, axis, position);
  Taps taps;
  taps.extrapolated =
      options.transformation == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.input - 1));
  if (options.mode == "nearest") {
    taps.first = nearest(options, x);
    taps.weights = {1.0};
    return taps;
  }
  const bool is_cubic = options.mode == "cubic";
  if (!is_cubic && options.mode != "linear") fail("the mode '", options.mode, "' is none of nearest, linear and cubic");
  // Against aliasing the filter is stretched when the axis shrinks.
  const double shrink = options.antialias ? std::min(1.0, axis.scale) : 1.0;
  const double reach = (is_cubic ? 2.0 : 1.0) / shrink;
  taps.first = static_cast<std::int64_t>(std::floor(x - reach)) + 1;
  const auto last = static_cast<std::int64_t>(std::ceil(x + reach)) - 1;
  double sum = 0;
  for (std::int64_t i = taps.first; i <= last; ++i) {
    const double distance = (static_cast<double>(i) - x) * shrink;
    double weight = is_cubic ? cubic(distance, options.cubic_coefficient) : triangle(distance);
    if (options.exclude_outside && (i < 0 || i >= axis.input)) weight = 0;
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (sum != 0) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

// `elements` is [outer, axis.input, inner], the result [outer, axis.output, inner].
std::vector<double> resize_axis(const Options& options, const Axis& axis, const std::vector<double>& elements,
                                std::int64_t inner) {
  if (axis.input == 0) fail("an axis without elements cannot be resized");
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < axis.output; ++i) taps.push_back(taps_of(options, axis, i));
  const std::int64_t outer =
      static_cast<std::int64_t>(elements.size()) / (axis.input * std::max<std::int64_t>(1, inner));
  std::vector<double> result(static_cast<std::size_t>(outer * axis.output * inner), 0.0);
  parallel_for(outer * axis.output, std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   const Taps& tap = taps[static_cast<std::size_t>(line % axis.output)];
                   double* target = result.data() + line * inner;
                   if (tap.extrapolated) {
                     std::fill(target, target + inner, options.extrapolation_value);
                     continue;
                   }
                   for (std::size_t k = 0; k < tap.weights.size(); ++k) {
                     const std::int64_t at =
                         std::clamp<std::int64_t>(tap.first + static_cast<std::int64_t>(k), 0, axis.input - 1);
                     const double* source = elements.data() + (line / axis.output * axis.input + at) * inner;
                     for (std::int64_t i = 0; i < inner; ++i) target[i] += tap.weights[k] * source[i];
                   }
                 }
               });
  return result;
}

// What the inputs and attributes say of every axis of X.
std::vector<Axis> axes_of(const Invocation& call) {
  const Dims& dims = call.inputs[0].dims();
  std::vector<Axis> result;
  for (const std::int64_t extent : dims) result.push_back({extent, extent, 1.0});
  const std::vector<std::int64_t> axes =
      normalized_axes(call.node.integers("axes", all_axes(call.inputs[0].rank())), call.inputs[0].rank());
  const auto elements = [&](std::size_t index) {
    return call.has_input(index) ? call.inputs[index].to_doubles() : std::vector<double>{};
  };
  const std::vector<double> roi = elements(1), scales = elements(2), sizes = elements(3);
  if (scales.empty() == sizes.empty()) fail("exactly one of 'scales' and 'sizes' must be given");
  if (std::max(scales.size(), sizes.size()) != axes.size() || (!roi.empty() && roi.size() != 2 * axes.size())) {
    fail("'roi', 'scales' or 'sizes' do not fit ", axes.size(), " axes");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = result[static_cast<std::size_t>(axes[i])];
    const auto input = static_cast<double>(axis.input);
    axis.scale = scales.empty() ? sizes[i] / input : scales[i];
    axis.output = static_cast<std::int64_t>(scales.empty() ? sizes[i] : std::floor(input * scales[i]));
    if (!roi.empty()) {
      axis.roi_begin = roi[i];
      axis.roi_end = roi[axes.size() + i];
    }
  }
  const std::string policy = call.node.string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return result;
  if (policy != "not_larger" && policy != "not_smaller") fail("the keep_aspect_ratio_policy '", policy, "' is unknown");
  double scale = result[static_cast<std::size_t>(axes.at(0))].scale;
  for (const std::int64_t axis : axes) {
    const double other = result[static_cast<std::size_t>(axis)].scale;
    scale = policy == "not_larger" ? std::min(scale, other) : std::max(scale, other);
  }
  for (const std::int64_t number : axes) {
    Axis& axis = result[static_cast<std::size_t>(number)];
    axis.scale = scale;
    axis.output = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(axis.input) + 0.5));
  }
  return result;
}

// Integers are rounded and saturate.
template <typename T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    const auto lowest = static_cast<double>(std::numeric_limits<T>::lowest());
    const auto highest = static_cast<double>(std::numeric_limits<T>::max());
    const double whole = std::nearbyint(value);
    if (whole <= lowest) return std::numeric_limits<T>::lowest();
    return whole >= highest ? std::numeric_limits<T>::max() : static_cast<T>(whole);
  } else {
    return static_cast<T>(value);
  }
}

bool is_unchanged(const Axis& axis) {
  return axis.input == axis.output && axis.scale == 1 && axis.roi_begin == 0 && axis.roi_end == 1;
}

void compute_resize(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Options options = options_of(call.node);
  const std::vector<Axis> axes = axes_of(call);
  Dims dims;
  for (const Axis& axis : axes) dims.push_back(axis.output);
  Tensor& y = output(call, 0, x.dtype(), dims);
  std::vector<double> elements = x.to_doubles();
  Dims present = x.dims();
  for (std::size_t i = 0; i < axes.size() && y.size() > 0; ++i) {
    if (is_unchanged(axes[i])) continue;
    const AxisView view = view_along(present, static_cast<std::int64_t>(i));
    elements = resize_axis(options, axes[i], elements, view.inner);
    present[i] = axes[i].output;
  }
  dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* target = y.data<T>();
    for (std::int64_t i = 0; i < y.size(); ++i) target[i] = rounded<T>(elements[static_cast<std::size_t>(i)]);
  });
}

const Registration resize("Resize", compute_resize);

}  // namespace

}  // namespace ort_train::kernels
