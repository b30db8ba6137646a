#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/reduction_plan.h"

// Reductions by the reducers of kernels/functors/reducers.h.
namespace ort_train::runtime::cuda {

template <typename Reducer>
struct MergeStates {
  using State = typename Reducer::State;
  __host__ __device__ State operator()(State a, const State& b) const {
    Reducer::merge(a, b);
    return a;
  }
};

/// One part of one group is a row. Where groups have one part, it makes the result at once.
template <typename Reducer, typename T>
struct ReduceParts {
  using State = typename Reducer::State;
  In<T> x;
  Out<State> states;
  Out<T> y;
  ReductionPlan plan;

  void arrays(Accesses& accesses) const { accesses(x)(states)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t row, const Threads& threads) const {
    const std::int64_t result = row % plan.results, begin = row / plan.results * plan.length;
    const std::int64_t rest = plan.group - begin;
    const std::int64_t first = plan.kept(result).of[0];
    const State state = threads.reduce(
        rest < plan.length ? rest : plan.length, Reducer::empty(),
        [&](std::int64_t k) {
          State one = Reducer::empty();
          Reducer::add(one, loaded(x[first + plan.reduced(begin + k).of[0]]));
          return one;
        },
        MergeStates<Reducer>());
    if (!threads.is_first()) return;
    if (plan.parts == 1) {
      y[result] = stored<T>(Reducer::finish(state, plan.group));
    } else {
      states[row] = state;
    }
  }
};

/// One result is a row.
template <typename Reducer, typename T>
struct MergeParts {
  using State = typename Reducer::State;
  In<State> states;
  Out<T> y;
  std::int64_t results, parts, group;

  void arrays(Accesses& accesses) const { accesses(states)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t result, const Threads& threads) const {
    const State state = threads.reduce(
        parts, Reducer::empty(), [&](std::int64_t part) { return states[part * results + result]; },
        MergeStates<Reducer>());
    if (threads.is_first()) y[result] = stored<T>(Reducer::finish(state, group));
  }
};

template <typename Reducer, typename T>
void run_reduction(const LaunchedKernel& self, const ReductionPlan& plan) {
  using State = typename Reducer::State;
  const Out<State> states = plan.parts == 1 ? Out<State>{nullptr, 0} : self.scratch<State>(plan.parts * plan.results);
  const ReduceParts<Reducer, T> reduce{self.in<T>(0), states, plan.parts == 1 ? self.out<T>(0) : Out<T>{nullptr, 0},
                                       plan};
  if (plan.thread_each) {
    self.for_each(plan.parts * plan.results, SingleThreadRows<ReduceParts<Reducer, T>>{reduce});
  } else {
    self.for_rows(plan.parts * plan.results, reduce);
  }
  if (plan.parts == 1) return;
  self.for_rows(
      plan.results,
      MergeParts<Reducer, T>{{states.elements, states.count}, self.out<T>(0), plan.results, plan.parts, plan.group});
}

/// Reduces axes of input 0 into output 0, row-major. `Reducer` is a template over the type of computation. Null for
/// elements that are not in `Types`, and for too many axes.
template <typename Types, template <typename> typename Reducer>
std::unique_ptr<Kernel> make_reduction(const Request& request, const std::vector<bool>& reduced) {
  const Format plain = request.plain_input(0);
  if (!Types::contain(plain.dtype()) || reduced.size() > most_axes) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  // Channels that lie innermost stay neighbours when all pixels are reduced.
  bool all_pixels = !request.undecided[0];
  for (std::size_t axis = 2; axis < reduced.size(); ++axis) all_pixels = all_pixels && reduced[axis];
  if (all_pixels) kernel->inputs[0] = request.input(0);
  const ReductionPlan plan(kernel->inputs[0], reduced);
  Types::dispatch(plain.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Chosen = Reducer<Computed<T>>;
    const auto states = static_cast<std::size_t>(plan.parts > 1 ? plan.parts * plan.results : 0);
    kernel->scratchpad_bytes = states * sizeof(typename Chosen::State);
    kernel->launches = [plan](const LaunchedKernel& self) { run_reduction<Chosen, T>(self, plan); };
  });
  return kernel;
}

}  // namespace ort_train::runtime::cuda
