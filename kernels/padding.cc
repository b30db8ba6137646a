#include "kernels/padding.h"

#include <algorithm>

namespace ort_train::kernels {

namespace {

using functors::PaddedAxis;
using functors::PadMode;

PadMode pad_mode(const std::string& name) {
  if (name == "constant") return PadMode::constant;
  if (name == "reflect") return PadMode::reflect;
  if (name == "edge") return PadMode::edge;
  if (name == "wrap") return PadMode::wrap;
  fail("the mode '", name, "' is none of constant, reflect, edge and wrap");
}

PaddedAxis padded_axis(PadMode mode, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  PaddedAxis axis;
  axis.mode = mode;
  axis.padded = extent + begin + end;
  axis.begin = std::max<std::int64_t>(0, begin);
  axis.first = std::max<std::int64_t>(0, -begin);
  axis.left = extent - axis.first - std::max<std::int64_t>(0, -end);
  if (axis.padded < 0 || axis.left < 0) {
    fail("pads of ", begin, " and ", end, " cut more than the ", extent, " elements off");
  }
  if (axis.left == 0 && axis.padded > 0 && mode != PadMode::constant) {
    fail("there is nothing to pad with in an empty axis");
  }
  return axis;
}

}  // namespace

std::vector<PaddedAxis> padded_axes(const std::string& mode, const Dims& dims, const std::vector<std::int64_t>& pads,
                                    const std::vector<std::int64_t>& axes) {
  if (pads.size() != 2 * axes.size()) fail("there are ", pads.size(), " pads for ", axes.size(), " axes");
  std::vector<PaddedAxis> result;
  for (const std::int64_t extent : dims) result.push_back(padded_axis(PadMode::constant, extent, 0, 0));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    result[axis] = padded_axis(pad_mode(mode), dims[axis], pads[i], pads[i + axes.size()]);
  }
  return result;
}

Dims padded_dims(const std::vector<PaddedAxis>& axes) {
  Dims dims;
  for (const PaddedAxis& axis : axes) dims.push_back(axis.padded);
  return dims;
}

}  // namespace ort_train::kernels
