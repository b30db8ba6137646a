// Operators on the lanes of an array along one axis: LpNormalization, CumSum and CumProd.
#include <cmath>

#include "kernels/functors/reducers.h"
#include "runtime/cuda/constant_input.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/lanes.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/row_sums.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// X divided by the L1 or L2 norm of its lane; where that is 0, the result is 0.
template <typename T>
struct NormalizeLanes {
  In<T> x;
  Out<T> y;
  Lanes lanes;
  bool squares;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t lane, const Threads& threads) const {
    const std::int64_t first = lanes.first(lane);
    const auto element = [&](std::int64_t k) { return static_cast<double>(loaded(x[first + k * lanes.stride])); };
    const double sum = row_sum(threads, lanes.extent,
                               [&](std::int64_t k) { return squares ? element(k) * element(k) : fabs(element(k)); });
    const double norm = squares ? sqrt(sum) : sum;
    threads.for_each(lanes.extent, [&](std::int64_t k) {
      y[first + k * lanes.stride] = stored<T>(norm == 0 ? 0.0 : element(k) / norm);
    });
  }
};

std::unique_ptr<Kernel> make_lp_normalization(const Request& request) {
  const Format x = request.input(0);
  const std::int64_t p = request.node.integer("p", 2);
  const auto lanes = lanes_along(x, request.node.integer("axis", -1));
  if (!FloatingTypes::contain(x.dtype()) || !lanes || (p != 1 && p != 2)) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = kernel->outputs = {x};
  kernel->in_place = {{0, 0}};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes = *lanes, p](const LaunchedKernel& self) {
      self.for_rows_of(lanes.count, lanes.extent, NormalizeLanes<T>{self.in<T>(0), self.out<T>(0), lanes, p == 2});
    };
  });
  return kernel;
}

/// Running results along a lane, in either direction, with or without the element itself.
template <typename Reducer, typename T>
struct AccumulateLanes {
  In<T> x;
  Out<T> y;
  Lanes lanes;
  bool exclusive, reverse;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  __host__ __device__ void operator()(std::int64_t lane) const {
    const std::int64_t step = reverse ? -lanes.stride : lanes.stride;
    std::int64_t position = lanes.first(lane) + (reverse ? (lanes.extent - 1) * lanes.stride : 0);
    auto state = Reducer::empty();
    for (std::int64_t k = 0; k < lanes.extent; ++k, position += step) {
      const auto element = loaded(x[position]);
      if (!exclusive) Reducer::add(state, element);
      y[position] = stored<T>(Reducer::finish(state, k));
      if (exclusive) Reducer::add(state, element);
    }
  }
};

template <template <typename> typename Reducer>
std::unique_ptr<Kernel> make_cumulative(const Request& request) {
  const Format x = request.input(0);
  const auto axis = constant_integers(request, 1);
  if (!axis || axis->size() != 1 || !NumericTypes::contain(x.dtype())) return nullptr;
  const auto lanes = lanes_along(x, axis->at(0));
  if (!lanes) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs[0] = x;
  kernel->outputs = {x};
  kernel->in_place = {{0, 0}};
  NumericTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes = *lanes, exclusive = request.node.integer("exclusive", 0) != 0,
                        reverse = request.node.integer("reverse", 0) != 0](const LaunchedKernel& self) {
      self.for_each(lanes.count,
                    AccumulateLanes<Reducer<Computed<T>>, T>{self.in<T>(0), self.out<T>(0), lanes, exclusive, reverse});
    };
  });
  return kernel;
}

const FactoryRegistration lp_normalization("LpNormalization", make_lp_normalization);
const FactoryRegistration cumulative_sum("CumSum", make_cumulative<functors::SumReducer>);
const FactoryRegistration cumulative_product("CumProd", make_cumulative<functors::ProductReducer>);

}  // namespace

}  // namespace ort_train::runtime::cuda
