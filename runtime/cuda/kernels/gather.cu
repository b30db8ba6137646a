// Gather, GatherElements and GatherND; and Gather's gradient, which adds in the order of the indices.
#include <span>
#include <utility>

#include "kernels/arguments.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/indices.h"
#include "runtime/cuda/occurrences.h"
#include "runtime/cuda/words.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::AxisView;

/// Slices of [outer, extent, inner] by their indices.
template <typename Word>
struct GatherSlices {
  In<Word> x;
  Indices indices;
  Out<Word> y;
  std::int64_t count, extent, inner;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(x)(y);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t slice = i / inner;
    const std::int64_t row = error.checked(indices[slice % count], extent);
    y[i] = row < 0 ? Word(0) : x[(slice / count * extent + row) * inner + i % inner];
  }
};

AxisView view_of(const Request& request, const Dims& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  return ort_train::kernels::view_along(dims,
                                        ort_train::kernels::normalized_axis(request.node.integer("axis", 0), rank));
}

std::unique_ptr<Kernel> make_gather(const Request& request) {
  const Format x = request.plain_input(0), indices = request.plain_input(1);
  if (!can_be_indices(indices.dtype())) return nullptr;
  const AxisView view = view_of(request, x.dims());
  const IndexErrors errors(request, {view.extent});
  auto kernel = std::make_unique<LaunchedKernel>(request);
  dispatch_words(x.dtype(), [&](auto tag) {
    using Word = typename decltype(tag)::type;
    kernel->launches = [view, errors](const LaunchedKernel& self) {
      const Out<Word> y = self.out<Word>(0);
      self.for_each(y.count, GatherSlices<Word>{self.in<Word>(0), indices_of(self, 1), y, self.inputs[1].size(),
                                                view.extent, view.inner, errors()});
    };
  });
  return kernel;
}

struct SliceTargets {
  Indices indices;
  Out<std::int64_t> targets;
  std::int64_t extent;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(targets);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const { targets[i] = error.checked(indices[i], extent); }
};

/// The result is all zeros before.
template <typename T>
struct AddSlices {
  In<T> gradient;
  Chains chains;
  Out<T> result;
  std::int64_t extent, inner;

  void arrays(Accesses& accesses) const {
    accesses(gradient)(result);
    chains.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t slice = i / inner, count = chains.targets.count;
    const std::int64_t outer = slice / count, first = slice % count;
    if (!chains.starts(first)) return;
    Computed<T> sum = 0;
    for (std::int64_t k = first; k >= 0; k = chains.next[k]) {
      sum += loaded(gradient[(outer * count + k) * inner + i % inner]);
    }
    result[(outer * extent + chains.targets[first]) * inner + i % inner] = stored<T>(sum);
  }
};

template <typename T>
struct Zeros {
  Out<T> array;
  void arrays(Accesses& accesses) const { accesses(array); }
  __host__ __device__ void operator()(std::int64_t i) const { array[i] = stored<T>(0); }
};

std::unique_ptr<Kernel> make_gather_gradient(const Request& request) {
  const Format gradient = request.plain_input(0), indices = request.plain_input(1);
  if (!can_be_indices(indices.dtype()) || !FloatingTypes::contain(gradient.dtype())) return nullptr;
  const AxisView view = view_of(request, request.plain_output(0).dims());
  const IndexErrors errors(request, {view.extent});
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const ChainMemory memory(*kernel, indices.size());
  FloatingTypes::dispatch(gradient.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [view, errors, memory](const LaunchedKernel& self) {
      const In<T> dy = self.in<T>(0);
      const Out<T> dx = self.out<T>(0);
      const Out<std::int64_t> targets = memory.targets(self);
      self.for_each(dx.count, Zeros<T>{dx});
      self.for_each(targets.count, SliceTargets{indices_of(self, 1), targets, view.extent, errors()});
      const Chains chains = memory.link(self);
      self.for_each(dy.count, AddSlices<T>{dy, chains, dx, view.extent, view.inner});
    };
  });
  return kernel;
}

template <typename Word>
struct GatherSingly {
  In<Word> x;
  Indices indices;
  Out<Word> y;
  /// Of the element with index 0 along the axis.
  StridedPositions<1> positions;
  std::int64_t extent, stride;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(x)(y);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t index = error.checked(indices[i], extent);
    y[i] = index < 0 ? Word(0) : x[positions(i).of[0] + index * stride];
  }
};

std::unique_ptr<Kernel> make_gather_elements(const Request& request) {
  const Format x = request.plain_input(0), indices = request.plain_input(1);
  if (!can_be_indices(indices.dtype()) || x.dims().size() > most_axes) return nullptr;
  const auto axis = static_cast<std::size_t>(
      ort_train::kernels::normalized_axis(request.node.integer("axis", 0), static_cast<std::int64_t>(x.dims().size())));
  for (std::size_t i = 0; i < x.dims().size(); ++i) {
    // The host has the sentence for it.
    if (i != axis && indices.dims()[i] > x.dims()[i]) return nullptr;
  }
  Dims strides[1] = {x.strides()};
  const std::int64_t stride = std::exchange(strides[0][axis], 0);
  const auto positions = strided_positions<1>(indices.dims(), strides);
  const IndexErrors errors(request, {x.dims()[axis]});
  auto kernel = std::make_unique<LaunchedKernel>(request);
  dispatch_words(x.dtype(), [&](auto tag) {
    using Word = typename decltype(tag)::type;
    kernel->launches = [positions, errors, stride, extent = x.dims()[axis]](const LaunchedKernel& self) {
      const Out<Word> y = self.out<Word>(0);
      self.for_each(y.count,
                    GatherSingly<Word>{self.in<Word>(0), indices_of(self, 1), y, positions, extent, stride, errors()});
    };
  });
  return kernel;
}

template <typename Word>
struct GatherTuples {
  In<Word> x;
  Indices indices;
  Out<Word> y;
  IndexTuples tuples;
  std::int64_t per_batch, batch_size, block;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(x)(y);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t tuple = i / block;
    const std::int64_t place = tuples.place(indices, tuple, error);
    y[i] = place < 0 ? Word(0) : x[tuple / per_batch * batch_size + place + i % block];
  }
};

std::unique_ptr<Kernel> make_gather_nd(const Request& request) {
  const Format x = request.plain_input(0), indices = request.plain_input(1);
  const auto batch_axes = static_cast<std::size_t>(request.node.integer("batch_dims", 0));
  if (!can_be_indices(indices.dtype()) || batch_axes >= indices.dims().size()) return nullptr;
  const auto length = static_cast<std::size_t>(indices.dims().back());
  if (length > most_axes || batch_axes + length > x.dims().size()) return nullptr;
  const std::span<const std::int64_t> dims(x.dims()), inner = dims.subspan(batch_axes);
  const IndexTuples tuples(length, inner);
  const std::int64_t count = indices.size() / static_cast<std::int64_t>(length);
  const std::int64_t batches = element_count(dims.first(batch_axes)), batch_size = element_count(inner);
  const std::int64_t block = element_count(inner.subspan(length));
  const IndexErrors errors(request, Dims(inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(length)));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  dispatch_words(x.dtype(), [&](auto tag) {
    using Word = typename decltype(tag)::type;
    kernel->launches = [=](const LaunchedKernel& self) {
      const Out<Word> y = self.out<Word>(0);
      self.for_each(y.count, GatherTuples<Word>{self.in<Word>(0), indices_of(self, 1), y, tuples, count / batches,
                                                batch_size, block, errors()});
    };
  });
  return kernel;
}

const FactoryRegistration gather("Gather", make_gather);
const FactoryRegistration gather_elements("GatherElements", make_gather_elements);
const FactoryRegistration gather_nd("GatherND", make_gather_nd);
const TrainingFactoryRegistration gather_gradient("GatherGrad", make_gather_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
