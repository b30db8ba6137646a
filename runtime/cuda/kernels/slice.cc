// Slice, its gradient, and the part of an array that a replica keeps.
#include <algorithm>

#include "kernels/slice_window.h"
#include "runtime/cuda/constant_input.h"
#include "runtime/cuda/strided_copy.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::SliceWindow;

std::unique_ptr<Kernel> make_slice(const Request& request) {
  const Format input = request.input(0);
  const auto starts = constant_integers(request, 1), ends = constant_integers(request, 2);
  if (!starts || !ends) return nullptr;
  const auto count = static_cast<std::int64_t>(starts->size());
  const auto axes = constant_integers(request, 3, ort_train::kernels::all_axes(count));
  const auto steps = constant_integers(request, 4, std::vector<std::int64_t>(starts->size(), 1));
  if (!axes || !steps) return nullptr;
  const auto rank = static_cast<std::int64_t>(input.dims().size());
  const SliceWindow window = ort_train::kernels::slice_window(input.dims(), *starts, *ends,
                                                              ort_train::kernels::normalized_axes(*axes, rank), *steps);
  const Format output = input.with(input.dtype(), window.extents);
  auto kernel =
      std::make_unique<StridedCopyKernel>(request.context, with_first_as_it_lies(request), std::vector<Format>{output});
  const Dims strides = input.strides();
  const bool fits = kernel->add(window.extents, {0, first_element(window, strides), stepped_strides(window, strides)},
                                {0, 0, output.strides()});
  return fits ? std::move(kernel) : nullptr;
}

std::unique_ptr<Kernel> make_slice_gradient(const Request& request) {
  const Format gradient = request.input(0);
  const Format output = gradient.with(gradient.dtype(), request.plain_output(0).dims());
  const SliceWindow window = ort_train::kernels::slice_gradient_window(request.node, gradient.dims());
  auto kernel =
      std::make_unique<StridedCopyKernel>(request.context, with_first_as_it_lies(request), std::vector<Format>{output});
  kernel->clear_output();
  const Dims strides = output.strides();
  const bool fits = kernel->add(gradient.dims(), {0, 0, gradient.strides()},
                                {0, first_element(window, strides), stepped_strides(window, strides)});
  return fits ? std::move(kernel) : nullptr;
}

std::unique_ptr<Kernel> make_flat_part(const Request& request) {
  const Format whole = request.plain_input(0), part = request.plain_output(0);
  const std::int64_t first = request.node.integer("index", 0) * part.size();
  const std::int64_t count = std::clamp<std::int64_t>(whole.size() - first, 0, part.size());
  auto kernel =
      std::make_unique<StridedCopyKernel>(request.context, std::vector<Format>{whole}, std::vector<Format>{part});
  if (count < part.size()) kernel->clear_output();
  return kernel->add({count}, {0, first, {1}}, {0, 0, {1}}) ? std::move(kernel) : nullptr;
}

const FactoryRegistration slice("Slice", make_slice);
const TrainingFactoryRegistration slice_gradient("SliceGrad", make_slice_gradient);
const TrainingFactoryRegistration flat_part("FlatPart", make_flat_part);

}  // namespace

}  // namespace ort_train::runtime::cuda
