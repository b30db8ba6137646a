#pragma once

#include <memory>
#include <type_traits>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/elementwise_plan.h"
#include "runtime/cuda/launched_kernel.h"

// Operators that apply a functor of kernels/functors/ to every element.
namespace ort_train::runtime::cuda {

template <typename R, typename T, typename Functor>
struct UnaryElements {
  In<T> x;
  Out<R> y;
  Functor functor;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  __host__ __device__ void operator()(std::int64_t i) const { y[i] = stored<R>(functor(loaded(x[i]))); }
};

template <typename R, typename T, typename Functor>
struct BinaryElements {
  In<T> a, b;
  Out<R> y;
  StridedPositions<2> positions;
  Functor functor;

  void arrays(Accesses& accesses) const { accesses(a)(b)(y); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const auto offsets = positions(i);
    y[i] = stored<R>(functor(loaded(a[offsets.of[0]]), loaded(b[offsets.of[1]])));
  }
};

/// Elements of the result: bool for predicates, else those of the operands.
template <typename T, typename Result>
using ResultElement = std::conditional_t<std::is_same_v<Result, bool>, bool, T>;

/// The output has the extents of input 0. Null for elements that are not in `Types`.
template <typename Types, typename Functor>
std::unique_ptr<Kernel> make_unary(const Request& request, const Functor& functor) {
  const DataType type = request.plain_input(0).dtype();
  const ElementwisePlan plan(request, 1);
  if (!Types::contain(type)) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, 1);
  Types::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = ResultElement<T, decltype(functor(Computed<T>{}))>;
    kernel->launches = [count = plan.count(), functor](const LaunchedKernel& self) {
      self.for_each(count, UnaryElements<R, T, Functor>{self.in<T>(0), self.out<R>(0), functor});
    };
  });
  return kernel;
}

/// Two inputs with elements of one type, which broadcast to each other. Null for elements that are not in `Types`, and
/// for too many axes.
template <typename Types, typename Functor>
std::unique_ptr<Kernel> make_binary(const Request& request, const Functor& functor) {
  const DataType type = request.plain_input(0).dtype();
  const ElementwisePlan plan(request, 2);
  if (!Types::contain(type) || request.plain_input(1).dtype() != type || !plan.fits()) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, 2);
  Types::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = ResultElement<T, decltype(functor(Computed<T>{}, Computed<T>{}))>;
    kernel->launches = [count = plan.count(), positions = plan.positions<2>(), functor](const LaunchedKernel& self) {
      self.for_each(count,
                    BinaryElements<R, T, Functor>{self.in<T>(0), self.in<T>(1), self.out<R>(0), positions, functor});
    };
  });
  return kernel;
}

template <typename Types, typename Functor>
std::unique_ptr<Kernel> unary(const Request& request) {
  return make_unary<Types>(request, Functor{});
}

template <typename Types, typename Functor>
std::unique_ptr<Kernel> binary(const Request& request) {
  return make_binary<Types>(request, Functor{});
}

}  // namespace ort_train::runtime::cuda
