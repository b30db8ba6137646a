// Pad in all its modes, and the gradient, which adds up what a padded array repeats.
#include "base/dispatch.h"
#include "kernels/padding.h"
#include "runtime/cuda/constant_input.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/strided.h"
#include "runtime/cuda/words.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::functors::PaddedAxis;

/// Padded positions are counted row-major; the strides are those of the two arrays.
struct Padding {
  int axes = 0;
  PaddedAxis axis[most_axes];
  std::int64_t dims[most_axes] = {};
  std::int64_t input_strides[most_axes] = {}, padded_strides[most_axes] = {};
};

Padding padding_of(const std::vector<PaddedAxis>& axes, const Format& input, const Format& padded) {
  Padding padding;
  padding.axes = static_cast<int>(axes.size());
  for (int axis = 0; axis < padding.axes; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    padding.axis[axis] = axes[at];
    padding.dims[axis] = input.dims()[at];
    padding.input_strides[axis] = input.strides()[at];
    padding.padded_strides[axis] = padded.strides()[at];
  }
  return padding;
}

template <typename Word>
struct PadWords {
  In<Word> input, filler;
  Out<Word> padded;
  Padding padding;

  void arrays(Accesses& accesses) const { accesses(input)(filler)(padded); }
  __host__ __device__ void operator()(std::int64_t i) const {
    std::int64_t source = 0, target = 0;
    bool inside = true;
    for (int axis = padding.axes - 1; axis >= 0; --axis) {
      const std::int64_t index = i % padding.axis[axis].padded;
      i /= padding.axis[axis].padded;
      const std::int64_t along = padding.axis[axis].source(index);
      inside = inside && along != PaddedAxis::outside;
      source += along * padding.input_strides[axis];
      target += index * padding.padded_strides[axis];
    }
    padded[target] = inside ? input[source] : filler.elements == nullptr ? Word(0) : filler[0];
  }
};

/// The sum over all padded elements that come from one element of the input, in their order.
template <typename T>
struct SumPadded {
  In<T> gradient;
  Out<T> result;
  Padding padding;

  void arrays(Accesses& accesses) const { accesses(gradient)(result); }

  /// The first position from `from` on along an axis that comes from `index`, or the extent.
  __host__ __device__ static std::int64_t next(const PaddedAxis& axis, std::int64_t index, std::int64_t from) {
    while (from < axis.padded && axis.source(from) != index) ++from;
    return from;
  }

  __host__ __device__ void operator()(std::int64_t i) const {
    std::int64_t index[most_axes], position[most_axes], target = 0;
    for (int axis = padding.axes - 1; axis >= 0; --axis) {
      index[axis] = i % padding.dims[axis];
      i /= padding.dims[axis];
      target += index[axis] * padding.input_strides[axis];
    }
    double sum = 0;
    bool found = true;
    for (int axis = 0; axis < padding.axes; ++axis) {
      position[axis] = next(padding.axis[axis], index[axis], first_candidate(padding.axis[axis], index[axis]));
      found = found && position[axis] < padding.axis[axis].padded;
    }
    while (found) {
      std::int64_t source = 0;
      for (int axis = 0; axis < padding.axes; ++axis) source += position[axis] * padding.padded_strides[axis];
      sum += static_cast<double>(loaded(gradient[source]));
      found = advance(index, position);
    }
    result[target] = stored<T>(sum);
  }

 private:
  /// Without repeats there is only one.
  __host__ __device__ static std::int64_t first_candidate(const PaddedAxis& axis, std::int64_t index) {
    if (axis.mode != ort_train::kernels::functors::PadMode::constant) return 0;
    const std::int64_t only = index - axis.first + axis.begin;
    return only < 0 || axis.source(only) != index ? axis.padded : only;
  }

  __host__ __device__ bool advance(const std::int64_t* index, std::int64_t* position) const {
    for (int axis = padding.axes - 1; axis >= 0; --axis) {
      const PaddedAxis& along = padding.axis[axis];
      const bool repeats = along.mode != ort_train::kernels::functors::PadMode::constant;
      position[axis] = repeats ? next(along, index[axis], position[axis] + 1) : along.padded;
      if (position[axis] < along.padded) return true;
      position[axis] = next(along, index[axis], first_candidate(along, index[axis]));
    }
    return false;
  }
};

std::unique_ptr<Kernel> make_pad(const Request& request) {
  const Dims dims = request.plain_input(0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto pads = constant_integers(request, 1);
  const auto axes = constant_integers(request, 3, ort_train::kernels::all_axes(rank));
  if (!pads || !axes || rank > most_axes) return nullptr;
  const std::vector<PaddedAxis> padded = ort_train::kernels::padded_axes(
      request.node.string("mode", "constant"), dims, *pads, ort_train::kernels::normalized_axes(*axes, rank));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs[0] = request.input(0);
  kernel->outputs = {request.input(0).with(request.input(0).dtype(), ort_train::kernels::padded_dims(padded))};
  const Padding padding = padding_of(padded, kernel->inputs[0], kernel->outputs[0]);
  dispatch_words(kernel->inputs[0].dtype(), [&](auto tag) {
    using Word = typename decltype(tag)::type;
    kernel->launches = [padding](const LaunchedKernel& self) {
      self.for_each(self.outputs[0].size(),
                    PadWords<Word>{self.in<Word>(0), self.in<Word>(2), self.out<Word>(0), padding});
    };
  });
  return kernel;
}

std::unique_ptr<Kernel> make_pad_gradient(const Request& request) {
  const Dims dims = request.plain_output(0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (rank > most_axes) return nullptr;
  const std::vector<PaddedAxis> padded = ort_train::kernels::padded_axes(
      request.node.string("mode", "constant"), dims, request.node.integers("pads"), ort_train::kernels::all_axes(rank));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = {request.input(0)};
  kernel->outputs = {request.input(0).with(request.input(0).dtype(), dims)};
  const Padding padding = padding_of(padded, kernel->outputs[0], kernel->inputs[0]);
  dispatch_any_floating(kernel->inputs[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [padding](const LaunchedKernel& self) {
      self.for_each(self.outputs[0].size(), SumPadded<T>{self.in<T>(0), self.out<T>(0), padding});
    };
  });
  return kernel;
}

const FactoryRegistration pad("Pad", make_pad);
const TrainingFactoryRegistration pad_gradient("PadGrad", make_pad_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
