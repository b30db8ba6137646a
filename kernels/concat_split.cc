#include <cstring>

#include "kernels/indexing.h"

namespace ort_train::kernels {

namespace {

void compute_concat(Invocation& call) {
  const Tensor& first = call.inputs.at(0);
  const std::int64_t axis = normalized_axis(call.node.integer("axis", 0), first.rank());
  const auto at = static_cast<std::size_t>(axis);
  Dims dims = first.dims();
  dims[at] = 0;
  for (const Tensor& input : call.inputs) {
    Dims others = input.dims();
    if (others.size() == dims.size()) others[at] = dims[at];
    if (others != dims) {
      fail("arrays of the shapes ", to_string(first.dims()), " and ", to_string(input.dims()),
           " cannot be joined along axis ", axis);
    }
    dims[at] += input.dims()[at];
  }
  Tensor& out = output(call, 0, first.dtype(), dims);
  const AxisView split = view_along(dims, axis);
  const std::size_t slice = static_cast<std::size_t>(split.inner) * size_of(first.dtype());
  const std::size_t row = static_cast<std::size_t>(dims[at]) * slice;
  std::size_t begin = 0;
  for (const Tensor& input : call.inputs) {
    const std::size_t part = static_cast<std::size_t>(input.dims()[at]) * slice;
    for (std::int64_t i = 0; i < split.outer; ++i) {
      const auto outer = static_cast<std::size_t>(i);
      std::memcpy(out.raw() + outer * row + begin, input.raw() + outer * part, part);
    }
    begin += part;
  }
}

// Extents of the parts: given, or as equal as can be with the last one smaller.
std::vector<std::int64_t> part_extents(const Invocation& call, std::int64_t extent) {
  if (call.has_input(1)) return integers_input(call, 1);
  const auto parts = call.node.integer("num_outputs", static_cast<std::int64_t>(call.node.outputs().size()));
  if (parts < 1) fail("an array cannot be split into ", parts, " parts");
  const std::int64_t size = (extent + parts - 1) / parts;
  std::vector<std::int64_t> extents(static_cast<std::size_t>(parts), size);
  extents.back() = extent - size * (parts - 1);
  return extents;
}

void compute_split(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::int64_t axis = normalized_axis(call.node.integer("axis", 0), input.rank());
  const AxisView split = view_along(input.dims(), axis);
  const std::vector<std::int64_t> extents = part_extents(call, split.extent);
  std::int64_t sum = 0;
  for (const std::int64_t extent : extents) sum += extent;
  if (sum != split.extent || extents.size() != call.outputs.size()) {
    fail("axis ", axis, " of ", to_string(input.dims()), " cannot be split into ", to_string(extents), " for ",
         call.outputs.size(), " outputs");
  }
  const std::size_t slice = static_cast<std::size_t>(split.inner) * size_of(input.dtype());
  const std::size_t row = static_cast<std::size_t>(split.extent) * slice;
  std::size_t begin = 0;
  for (std::size_t part = 0; part < extents.size(); ++part) {
    const std::size_t length = static_cast<std::size_t>(extents[part]) * slice;
    if (wants_output(call, part)) {
      Dims dims = input.dims();
      dims[static_cast<std::size_t>(axis)] = extents[part];
      Tensor& out = output(call, part, input.dtype(), dims);
      for (std::int64_t i = 0; i < split.outer; ++i) {
        const auto outer = static_cast<std::size_t>(i);
        std::memcpy(out.raw() + outer * length, input.raw() + outer * row + begin, length);
      }
    }
    begin += length;
  }
}

const Registration concat("Concat", compute_concat);
const Registration split("Split", compute_split);

}  // namespace

}  // namespace ort_train::kernels
