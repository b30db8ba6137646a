// Concat and Split: a strided copy for each part, in whatever formats the parts lie.
#include "kernels/arguments.h"
#include "runtime/cuda/strided_copy.h"

namespace ort_train::runtime::cuda {

namespace {

std::size_t axis_of(const Request& request, const Format& whole) {
  const auto rank = static_cast<std::int64_t>(whole.dims().size());
  return static_cast<std::size_t>(ort_train::kernels::normalized_axis(request.node.integer("axis", 0), rank));
}

/// That of most elements.
Format joined_format(const Request& request) {
  const Format plain = request.plain_output(0);
  std::int64_t channels_last = 0;
  for (const Format& input : request.inputs) channels_last += input.is_channels_last() ? input.size() : 0;
  return 2 * channels_last > plain.size() ? Format::channels_last(plain.dtype(), plain.dims()) : plain;
}

std::unique_ptr<Kernel> make_concat(const Request& request) {
  const Format whole = joined_format(request);
  const std::int64_t step = whole.strides()[axis_of(request, whole)];
  auto kernel = std::make_unique<StridedCopyKernel>(request.context, request.inputs, std::vector<Format>{whole});
  std::int64_t position = 0;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Format& part = request.inputs[i];
    if (!kernel->add(part.dims(), {i, 0, part.strides()}, {0, position * step, whole.strides()})) return nullptr;
    position += part.dims()[axis_of(request, whole)];
  }
  return kernel;
}

std::unique_ptr<Kernel> make_split(const Request& request) {
  const Format whole = request.input(0);
  const std::size_t axis = axis_of(request, whole);
  std::vector<Format> parts = request.plain_outputs();
  for (Format& part : parts) {
    // Without it nobody can tell where the next part starts.
    if (!part.defined()) return nullptr;
    part = whole.with(part.dtype(), part.dims());
  }
  auto kernel = std::make_unique<StridedCopyKernel>(request.context, with_first_as_it_lies(request), parts);
  std::int64_t position = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Place source{0, position * whole.strides()[axis], whole.strides()};
    if (!kernel->add(parts[i].dims(), source, {i, 0, parts[i].strides()})) return nullptr;
    position += parts[i].dims()[axis];
  }
  return kernel;
}

const FactoryRegistration concat("Concat", make_concat);
const FactoryRegistration split("Split", make_split);

}  // namespace

}  // namespace ort_train::runtime::cuda
