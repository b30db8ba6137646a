#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/functors/host_device.h"

// What is computed along reduced axes; kernels/reduction.h says what the members mean. C is the type of computation.
namespace ort_train::kernels::functors {

/// Floating-point numbers are added up in double. Integers wrap: modulo 2^64 first and 2^bits in the end.
template <typename C>
using Wide = std::conditional_t<std::is_floating_point_v<C>, double, std::uint64_t>;

template <typename C>
ORT_TRAIN_HOST_DEVICE Wide<C> widen(C x) {
  if constexpr (std::is_signed_v<C> && std::is_integral_v<C>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  } else {
    return static_cast<Wide<C>>(x);
  }
}

template <typename C>
ORT_TRAIN_HOST_DEVICE Wide<C> magnitude(C x) {
  if constexpr (std::is_floating_point_v<C>) {
    return std::fabs(widen(x));
  } else {
    return x < C(0) ? std::uint64_t{0} - widen(x) : widen(x);
  }
}

template <typename C>
ORT_TRAIN_HOST_DEVICE Wide<C> square(C x) {
  return widen(x) * widen(x);
}

template <typename C>
struct SumReducer {
  using State = Wide<C>;
  ORT_TRAIN_HOST_DEVICE static State empty() { return 0; }
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state += widen(x); }
  ORT_TRAIN_HOST_DEVICE static void merge(State& state, const State& other) { state += other; }
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t) { return static_cast<C>(state); }
};

/// The mean of integers is rounded towards zero, and must not be taken of none.
template <typename C>
struct MeanReducer : SumReducer<C> {
  using State = typename SumReducer<C>::State;
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t count) {
    if constexpr (std::is_floating_point_v<C>) {
      return static_cast<C>(state / static_cast<double>(count));
    } else if constexpr (std::is_signed_v<C>) {
      return static_cast<C>(static_cast<std::int64_t>(state) / count);
    } else {
      return static_cast<C>(state / static_cast<std::uint64_t>(count));
    }
  }
};

template <typename C>
struct ProductReducer {
  using State = Wide<C>;
  ORT_TRAIN_HOST_DEVICE static State empty() { return 1; }
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state *= widen(x); }
  ORT_TRAIN_HOST_DEVICE static void merge(State& state, const State& other) { state *= other; }
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t) { return static_cast<C>(state); }
};

template <typename C>
struct AbsoluteSumReducer : SumReducer<C> {
  using State = typename SumReducer<C>::State;
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state += magnitude(x); }
};

template <typename C>
struct SquareSumReducer : SumReducer<C> {
  using State = typename SumReducer<C>::State;
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state += square(x); }
};

/// Computed in double for integers too, and truncated.
template <typename C>
struct EuclideanNormReducer : SumReducer<double> {
  ORT_TRAIN_HOST_DEVICE static void add(double& state, C x) { state += square(static_cast<double>(x)); }
  ORT_TRAIN_HOST_DEVICE static C finish(double state, std::int64_t) { return static_cast<C>(std::sqrt(state)); }
};

template <typename C>
struct LogSumReducer : SumReducer<C> {
  using State = typename SumReducer<C>::State;
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t) { return static_cast<C>(std::log(state)); }
};

/// log(sum(exp(x))) in one pass: the sum is kept relative to the largest element so far, so it cannot overflow.
template <typename C>
struct LogSumExpReducer {
  struct State {
    double largest, sum;
  };
  ORT_TRAIN_HOST_DEVICE static State empty() { return {-std::numeric_limits<double>::infinity(), 0.0}; }
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { merge(state, {static_cast<double>(x), 1.0}); }
  ORT_TRAIN_HOST_DEVICE static void merge(State& state, const State& other) {
    if (other.largest == state.largest) {  // also where both are infinite, and have no difference
      state.sum += other.sum;
    } else if (other.largest > state.largest) {
      state = {other.largest, state.sum * std::exp(state.largest - other.largest) + other.sum};
    } else {
      state.sum += other.sum * std::exp(other.largest - state.largest);
    }
  }
  ORT_TRAIN_HOST_DEVICE static C finish(const State& state, std::int64_t) {
    return static_cast<C>(state.largest + std::log(state.sum));
  }
};

/// Infinity where the type has one, else its largest number.
template <typename C>
ORT_TRAIN_HOST_DEVICE C upper_end() {
  using Limits = std::numeric_limits<C>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

template <typename C>
ORT_TRAIN_HOST_DEVICE C lower_end() {
  using Limits = std::numeric_limits<C>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// NaN if any element is; bool has false < true.
template <typename C>
struct MaximumReducer {
  using State = C;
  ORT_TRAIN_HOST_DEVICE static State empty() { return lower_end<C>(); }
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state = state > x || state != state ? state : x; }
  ORT_TRAIN_HOST_DEVICE static void merge(State& state, const State& other) { add(state, other); }
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t) { return state; }
};

template <typename C>
struct MinimumReducer {
  using State = C;
  ORT_TRAIN_HOST_DEVICE static State empty() { return upper_end<C>(); }
  ORT_TRAIN_HOST_DEVICE static void add(State& state, C x) { state = state < x || state != state ? state : x; }
  ORT_TRAIN_HOST_DEVICE static void merge(State& state, const State& other) { add(state, other); }
  ORT_TRAIN_HOST_DEVICE static C finish(State state, std::int64_t) { return state; }
};

}  // namespace ort_train::kernels::functors
