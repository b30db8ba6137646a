// Operators that look for the largest or smallest elements of a lane: ArgMax, ArgMin, Hardmax and TopK.
#include "kernels/functors/ordering.h"
#include "runtime/cuda/constant_input.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/lanes.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

/// Elements that are compared on the GPU; the host compares the others.
struct OrderedTypes {
  static bool contain(DataType type) {
    return FloatingTypes::contain(type) || type == DataType::int32 || type == DataType::int64;
  }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    if (type == DataType::int32) return function(TypeTag<std::int32_t>{});
    if (type == DataType::int64) return function(TypeTag<std::int64_t>{});
    return FloatingTypes::dispatch(type, function);
  }
};

/// Which of two elements of a lane stands in front of the other; equal ones by their position.
struct Order {
  bool largest = true, last = false;

  template <typename C>
  __host__ __device__ bool better(C a, C b) const {
    return largest ? ort_train::kernels::functors::Above{}(a, b) : ort_train::kernels::functors::Below{}(a, b);
  }
  template <typename C>
  __host__ __device__ bool in_front(C a, std::int64_t a_index, C b, std::int64_t b_index) const {
    return better(a, b) || (!better(b, a) && (last ? a_index > b_index : a_index < b_index));
  }
};

template <typename T>
struct LaneElements {
  In<T> x;
  Lanes lanes;
  Order order;

  __host__ __device__ Computed<T> element(std::int64_t lane, std::int64_t k) const {
    return loaded(x[lanes.first(lane) + k * lanes.stride]);
  }

  /// The index of the front element among those that stand behind element number `after`, or among all of them when
  /// that is -1.
  template <typename Threads>
  __host__ __device__ std::int64_t front(std::int64_t lane, std::int64_t after, const Threads& threads) const {
    const Computed<T> bound = after < 0 ? Computed<T>(0) : element(lane, after);
    return threads.reduce(
        lanes.extent, std::int64_t{-1},
        [&](std::int64_t k) {
          return after < 0 || order.in_front(bound, after, element(lane, k), k) ? k : std::int64_t{-1};
        },
        [&](std::int64_t a, std::int64_t b) {
          if (a < 0 || b < 0) return a < 0 ? b : a;
          return order.in_front(element(lane, b), b, element(lane, a), a) ? b : a;
        });
  }
};

template <typename T>
struct FindExtremes {
  LaneElements<T> elements;
  Out<std::int64_t> indices;

  void arrays(Accesses& accesses) const { accesses(elements.x)(indices); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t lane, const Threads& threads) const {
    const std::int64_t best = elements.front(lane, -1, threads);
    if (threads.is_first()) indices[lane] = best;
  }
};

template <bool largest>
std::unique_ptr<Kernel> make_arg_best(const Request& request) {
  const Format x = request.input(0);
  const auto lanes = lanes_along(x, request.node.integer("axis", 0));
  if (!OrderedTypes::contain(x.dtype()) || !lanes) return nullptr;
  const Order order{largest, request.node.integer("select_last_index", 0) != 0};
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = {x};
  OrderedTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes = *lanes, order](const LaunchedKernel& self) {
      self.for_rows_of(lanes.count, lanes.extent,
                       FindExtremes<T>{{self.in<T>(0), lanes, order}, self.out<std::int64_t>(0)});
    };
  });
  return kernel;
}

/// One where the largest element of a lane stands, zero elsewhere.
template <typename T>
struct MarkExtremes {
  LaneElements<T> elements;
  Out<T> y;

  void arrays(Accesses& accesses) const { accesses(elements.x)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t lane, const Threads& threads) const {
    const std::int64_t best = elements.front(lane, -1, threads), first = elements.lanes.first(lane);
    threads.for_each(elements.lanes.extent,
                     [&](std::int64_t k) { y[first + k * elements.lanes.stride] = stored<T>(k == best ? 1 : 0); });
  }
};

std::unique_ptr<Kernel> make_hardmax(const Request& request) {
  const Format x = request.input(0);
  const auto lanes = lanes_along(x, request.node.integer("axis", -1));
  if (!FloatingTypes::contain(x.dtype()) || !lanes) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = kernel->outputs = {x};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes = *lanes](const LaunchedKernel& self) {
      self.for_rows_of(lanes.count, lanes.extent, MarkExtremes<T>{{self.in<T>(0), lanes, {}}, self.out<T>(0)});
    };
  });
  return kernel;
}

/// The k front elements one after the other: each is the front one of those behind the one before it.
template <typename T>
struct TakeFront {
  LaneElements<T> elements;
  Lanes results;
  Out<T> values;
  Out<std::int64_t> indices;

  void arrays(Accesses& accesses) const { accesses(elements.x)(values)(indices); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t lane, const Threads& threads) const {
    const std::int64_t source = elements.lanes.first(lane), target = results.first(lane);
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < results.extent; ++i) {
      best = elements.front(lane, best, threads);
      if (!threads.is_first()) continue;
      const std::int64_t position = target + i * results.stride;
      if (values.elements != nullptr) values[position] = elements.x[source + best * elements.lanes.stride];
      if (indices.elements != nullptr) indices[position] = best;
    }
  }
};

std::unique_ptr<Kernel> make_top_k(const Request& request) {
  const Format x = request.input(0);
  const std::int64_t axis = request.node.integer("axis", -1);
  const std::size_t shown = request.has_output(0) ? 0 : 1;
  const auto lanes = lanes_along(x, axis), results = lanes_along(request.plain_output(shown), axis);
  if (!OrderedTypes::contain(x.dtype()) || !lanes || !results || !constant_integers(request, 1)) return nullptr;
  const Order order{request.node.integer("largest", 1) != 0, false};
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs[0] = x;
  OrderedTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes = *lanes, results = *results, order](const LaunchedKernel& self) {
      self.for_rows_of(lanes.count, lanes.extent,
                       TakeFront<T>{{self.in<T>(0), lanes, order}, results, self.out<T>(0), self.out<std::int64_t>(1)});
    };
  });
  return kernel;
}

const FactoryRegistration arg_max("ArgMax", make_arg_best<true>);
const FactoryRegistration arg_min("ArgMin", make_arg_best<false>);
const FactoryRegistration hardmax("Hardmax", make_hardmax);
const FactoryRegistration top_k("TopK", make_top_k);

}  // namespace

}  // namespace ort_train::runtime::cuda
