// ScatterElements and ScatterND: the input, with some elements updated in the order in which the updates come.
#include <span>
#include <utility>

#include "kernels/arguments.h"
#include "kernels/scatter_reduction.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/indices.h"
#include "runtime/cuda/occurrences.h"
#include "runtime/cuda/words.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::functors::ScatterReduction;

template <typename Word>
struct CopyElements {
  In<Word> source;
  Out<Word> target;
  void arrays(Accesses& accesses) const { accesses(source)(target); }
  __host__ __device__ void operator()(std::int64_t i) const { target[i] = source[i]; }
};

/// Where the output does not lie over the input already.
template <typename T>
void copy_input(const LaunchedKernel& kernel) {
  const In<T> x = kernel.in<T>(0);
  const Out<T> y = kernel.out<T>(0);
  if (x.elements != y.elements) kernel.for_each(y.count, CopyElements<T>{x, y});
}

template <typename T>
__host__ __device__ T updated(ScatterReduction reduction, T old, T update) {
  return stored<T>(ort_train::kernels::functors::reduced(reduction, loaded(old), loaded(update)));
}

/// Updates that can meet the same element lie along the axis: a thread takes all of them in order.
template <typename T>
struct UpdateLanes {
  Indices indices;
  In<T> updates;
  Out<T> y;
  /// Of the first index of a lane, and of the element with index 0 along the axis.
  StridedPositions<2> positions;
  std::int64_t count, step, extent, stride;
  ScatterReduction reduction;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(updates)(y);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t lane) const {
    const auto first = positions(lane);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t from = first.of[0] + k * step;
      const std::int64_t index = error.checked(indices[from], extent);
      if (index < 0) continue;
      T& element = y[first.of[1] + index * stride];
      element = updated(reduction, element, updates[from]);
    }
  }
};

/// Without a reduction elements only move: words of their size do.
template <typename Function>
bool dispatch_updates(DataType type, ScatterReduction reduction, const Function& function) {
  if (reduction == ScatterReduction::none) {
    dispatch_words(type, function);
  } else if (NumericTypes::contain(type)) {
    NumericTypes::dispatch(type, function);
  } else {
    return false;
  }
  return true;
}

std::unique_ptr<Kernel> make_scatter_elements(const Request& request) {
  const Format x = request.plain_input(0), indices = request.plain_input(1);
  if (!can_be_indices(indices.dtype()) || x.dims().size() > most_axes) return nullptr;
  if (indices.dims().size() != x.dims().size() || indices.dims() != request.plain_input(2).dims()) return nullptr;
  const auto axis = static_cast<std::size_t>(
      ort_train::kernels::normalized_axis(request.node.integer("axis", 0), static_cast<std::int64_t>(x.dims().size())));
  for (std::size_t i = 0; i < x.dims().size(); ++i) {
    if (i != axis && indices.dims()[i] > x.dims()[i]) return nullptr;
  }
  Dims lanes = indices.dims();
  const std::int64_t count = std::exchange(lanes[axis], 1);
  const auto positions = strided_positions<2>(lanes, {indices.strides(), x.strides()});
  const IndexErrors errors(request, {x.dims()[axis]});
  const ScatterReduction reduction = ort_train::kernels::scatter_reduction(request.node);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  const bool known = dispatch_updates(x.dtype(), reduction, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=, step = indices.strides()[axis], extent = x.dims()[axis],
                        stride = x.strides()[axis]](const LaunchedKernel& self) {
      copy_input<T>(self);
      self.for_each(element_count(lanes), UpdateLanes<T>{indices_of(self, 1), self.in<T>(2), self.out<T>(0), positions,
                                                         count, step, extent, stride, reduction, errors()});
    };
  });
  return known ? std::move(kernel) : nullptr;
}

struct TupleTargets {
  Indices indices;
  Out<std::int64_t> targets;
  IndexTuples tuples;
  IndexError error;

  void arrays(Accesses& accesses) const {
    accesses(targets);
    indices.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t tuple) const {
    targets[tuple] = tuples.place(indices, tuple, error);
  }
};

/// Blocks of neighbouring elements, the updates of each in order.
template <typename T>
struct UpdateBlocks {
  In<T> updates;
  Chains chains;
  Out<T> y;
  std::int64_t block;
  ScatterReduction reduction;

  void arrays(Accesses& accesses) const {
    accesses(updates)(y);
    chains.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t first = i / block;
    if (!chains.starts(first)) return;
    T& element = y[chains.targets[first] + i % block];
    T value = element;
    for (std::int64_t k = first; k >= 0; k = chains.next[k]) {
      value = updated(reduction, value, updates[k * block + i % block]);
    }
    element = value;
  }
};

std::unique_ptr<Kernel> make_scatter_nd(const Request& request) {
  const Format x = request.plain_input(0), indices = request.plain_input(1);
  if (!can_be_indices(indices.dtype()) || indices.dims().empty()) return nullptr;
  const auto length = static_cast<std::size_t>(indices.dims().back());
  if (length > most_axes || length > x.dims().size()) return nullptr;
  const IndexTuples tuples(length, x.dims());
  const std::int64_t count = indices.size() / static_cast<std::int64_t>(length);
  const std::int64_t block = element_count(std::span(x.dims()).subspan(length));
  if (request.plain_input(2).size() != count * block) return nullptr;
  const IndexErrors errors(request, Dims(x.dims().begin(), x.dims().begin() + static_cast<std::ptrdiff_t>(length)));
  const ScatterReduction reduction = ort_train::kernels::scatter_reduction(request.node);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  const ChainMemory memory(*kernel, count);
  const bool known = dispatch_updates(x.dtype(), reduction, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=](const LaunchedKernel& self) {
      copy_input<T>(self);
      const Out<std::int64_t> targets = memory.targets(self);
      self.for_each(count, TupleTargets{indices_of(self, 1), targets, tuples, errors()});
      const Chains chains = memory.link(self);
      self.for_each(count * block, UpdateBlocks<T>{self.in<T>(2), chains, self.out<T>(0), block, reduction});
    };
  });
  return known ? std::move(kernel) : nullptr;
}

const FactoryRegistration scatter_elements("ScatterElements", make_scatter_elements);
const FactoryRegistration scatter_nd("ScatterND", make_scatter_nd);

}  // namespace

}  // namespace ort_train::runtime::cuda
