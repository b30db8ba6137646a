#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/elementwise.h"

// How any set of axes is reduced, whatever is computed along them.
namespace ort_train::kernels {

/// A dense array with some axes reduced, its neighbouring axes of one kind merged.
class ReductionPlan {
 public:
  /// `reduced[i]` says whether axis i is reduced.
  ReductionPlan(const Dims& dims, const std::vector<bool>& reduced);

  /// Elements of the result, and of each group that makes one of them (0 when a reduced axis is empty).
  std::int64_t results() const { return outer_results_ * inner_results_; }
  std::int64_t group_size() const { return outer_group_ * inner_group_; }

  /// The result is [outer_results, inner_results]. Where inner_results > 1 neighbouring results come from neighbouring
  /// elements; else every group is made of runs of inner_group neighbours.
  std::int64_t outer_results() const { return outer_results_; }
  std::int64_t inner_results() const { return inner_results_; }
  std::int64_t outer_group() const { return outer_group_; }
  std::int64_t inner_group() const { return inner_group_; }

  /// Where the first element of an outer result, and of a run of a group relative to it, lies.
  std::int64_t result_offset(std::int64_t outer) const { return offset(kept_, outer); }
  std::int64_t group_offset(std::int64_t run) const { return offset(reduced_, run); }

 private:
  struct Axis {
    std::int64_t extent, stride;
  };
  static std::int64_t offset(const std::vector<Axis>& axes, std::int64_t index);

  std::int64_t outer_results_ = 1, inner_results_ = 1, outer_group_ = 1, inner_group_ = 1;
  std::vector<Axis> kept_, reduced_;  // without the innermost axis of the array, innermost first
};

/// Reducers define
///   State              what is carried along a group;
///   empty()            the State of no elements;
///   add(state, x)      takes in an element, already in its type of computation;
///   merge(state, other) joins two parts of a group;
///   finish(state, n)   the result for a group of n elements.
/// The order of additions is a function of the extents alone, so results do not depend on the number of threads.
template <typename Reducer>
class Reduction {
 public:
  using State = typename Reducer::State;

  template <typename T>
  static void run(const ReductionPlan& plan, const T* source, T* target) {
    if (plan.results() == 1 && plan.outer_group() == 1) {
      target[0] = static_cast<T>(Reducer::finish(reduce_long_run(source, plan.inner_group()), plan.inner_group()));
      return;
    }
    const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, plan.group_size()));
    parallel_for(plan.results(), grain, [&](std::int64_t begin, std::int64_t end) {
      if (plan.inner_results() > 1) {
        reduce_columns(plan, source, target, begin, end);
      } else {
        for (std::int64_t i = begin; i < end; ++i) target[i] = reduce_rows(plan, source + plan.result_offset(i));
      }
    });
  }

 private:
  // Independent partial states let the processor overlap the additions, and shorten the chain of rounding errors.
  template <typename T>
  static State reduce_run(const T* source, std::int64_t count) {
    constexpr int lanes = 8;
    State states[lanes];
    std::fill(states, states + lanes, Reducer::empty());
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      for (int lane = 0; lane < lanes; ++lane) Reducer::add(states[lane], load(source[i + lane]));
    }
    for (int lane = 0; i < count; ++i, ++lane) Reducer::add(states[lane], load(source[i]));
    for (int lane = 1; lane < lanes; ++lane) Reducer::merge(states[0], states[lane]);
    return states[0];
  }

  template <typename T>
  static State reduce_long_run(const T* source, std::int64_t count) {
    constexpr std::int64_t block = 16384;
    // Not a vector of State: where that is bool, threads would write to bits of one byte.
    struct Part {
      State state;
    };
    std::vector<Part> parts(static_cast<std::size_t>((count + block - 1) / block));
    parallel_for(static_cast<std::int64_t>(parts.size()), 2, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        parts[static_cast<std::size_t>(b)].state = reduce_run(source + b * block, std::min(block, count - b * block));
      }
    });
    State state = Reducer::empty();
    for (const Part& part : parts) Reducer::merge(state, part.state);
    return state;
  }

  template <typename T>
  static T reduce_rows(const ReductionPlan& plan, const T* source) {
    State state = Reducer::empty();
    for (std::int64_t run = 0; run < plan.outer_group(); ++run) {
      Reducer::merge(state, reduce_run(source + plan.group_offset(run), plan.inner_group()));
    }
    return static_cast<T>(Reducer::finish(state, plan.group_size()));
  }

  // Results [begin, end), a block of neighbouring columns at a time.
  template <typename T>
  static void reduce_columns(const ReductionPlan& plan, const T* source, T* target, std::int64_t begin,
                             std::int64_t end) {
    constexpr std::int64_t block = 256;
    State states[block];
    while (begin < end) {
      const std::int64_t column = begin % plan.inner_results();
      const std::int64_t count = std::min({block, end - begin, plan.inner_results() - column});
      const T* first = source + plan.result_offset(begin / plan.inner_results()) + column;
      std::fill(states, states + count, Reducer::empty());
      for (std::int64_t run = 0; run < plan.group_size(); ++run) {
        const T* row = first + plan.group_offset(run);
        for (std::int64_t i = 0; i < count; ++i) Reducer::add(states[i], load(row[i]));
      }
      for (std::int64_t i = 0; i < count; ++i) {
        target[begin + i] = static_cast<T>(Reducer::finish(states[i], plan.group_size()));
      }
      begin += count;
    }
  }
};

}  // namespace ort_train::kernels
