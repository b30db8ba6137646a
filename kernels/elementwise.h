#pragma once

#include <type_traits>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/parallel.h"

// Loops that apply a functor to every element of dense arrays.
namespace ort_train::kernels {

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The type in which elements of type T are computed: float for 16-bit floats, else T itself.
template <typename T>
using Compute = std::conditional_t<is_half<T>, float, T>;

template <typename T>
Compute<T> load(T value) {
  return static_cast<Compute<T>>(value);
}

// Functors are passed by value: a member behind a reference could, for all the compiler knows, change with every
// element written, and the loops would not vectorize.

/// out[i] = functor(x[i]). `out` may be `x`.
template <typename Out, typename In, typename Functor>
void apply_unary(const In* x, Out* out, std::int64_t count, Functor functor) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(functor(load(x[i])));
}

/// out[i] = functor(a[i], b[i]), where an operand of stride 0 is repeated. `out` may be a dense operand.
template <typename Out, typename A, typename B, typename Functor>
void apply_binary(const A* a, std::int64_t a_stride, const B* b, std::int64_t b_stride, Out* out, std::int64_t count,
                  Functor functor) {
  if (a_stride != 0 && b_stride != 0) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(functor(load(a[i]), load(b[i])));
  } else if (a_stride != 0) {
    const auto right = load(*b);
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(functor(load(a[i]), right));
  } else if (b_stride != 0) {
    const auto left = load(*a);
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(functor(left, load(b[i])));
  } else {
    const auto value = static_cast<Out>(functor(load(*a), load(*b)));
    for (std::int64_t i = 0; i < count; ++i) out[i] = value;
  }
}

/// The same over whole tensors with elements of the given C++ types.
template <typename Out, typename In, typename Functor>
void map_unary(const Tensor& x, Tensor& out, const Functor& functor) {
  const In* source = x.data<In>();
  Out* target = out.data<Out>();
  parallel_for(out.size(), costly_grain, [&](std::int64_t begin, std::int64_t end) {
    apply_unary(source + begin, target + begin, end - begin, functor);
  });
}

/// The same for two operands that broadcast to `out`.
template <typename Out, typename A, typename B, typename Functor>
void map_binary(const Tensor& a, const Tensor& b, Tensor& out, const Functor& functor) {
  const Broadcast plan(out.dims(), {a.dims(), b.dims()});
  const A* left = a.data<A>();
  const B* right = b.data<B>();
  Out* target = out.data<Out>();
  parallel_for(plan.size(), cheap_grain, [&](std::int64_t begin, std::int64_t end) {
    plan.for_each_run(begin, end, [&](std::int64_t position, const std::int64_t* offsets, std::int64_t length) {
      apply_binary(left + offsets[0], plan.stride(0), right + offsets[1], plan.stride(1), target + position, length,
                   functor);
    });
  });
}

/// Families of element types, as constants for the kernels below.
inline constexpr auto floating_types = [](DataType type, auto&& f) { dispatch_any_floating(type, f); };
inline constexpr auto integer_types = [](DataType type, auto&& f) { dispatch_integer(type, f); };
inline constexpr auto numeric_types = [](DataType type, auto&& f) { dispatch_numeric(type, f); };
inline constexpr auto all_types = [](DataType type, auto&& f) { dispatch(type, f); };
inline constexpr auto training_types = [](DataType type, auto&& f) { dispatch_floating(type, f); };

/// A kernel of one input: the output has its extents, and its type or, for predicates, bool.
template <typename Types, typename Functor>
void unary_kernel(Invocation& call, const Types& types, const Functor& functor) {
  const Tensor& x = call.inputs.at(0);
  types(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Result = decltype(functor(Compute<T>{}));
    using Out = std::conditional_t<std::is_same_v<Result, bool>, bool, T>;
    map_unary<Out, T>(x, output(call, 0, data_type_of<Out>(), x.dims()), functor);
  });
}

/// A kernel of two inputs of one type that broadcast to each other: the output has their type or, for predicates, bool.
template <typename Types, typename Functor>
void binary_kernel(Invocation& call, const Types& types, const Functor& functor) {
  const Tensor& a = call.inputs.at(0);
  const Tensor& b = call.inputs.at(1);
  types(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Result = decltype(functor(Compute<T>{}, Compute<T>{}));
    using Out = std::conditional_t<std::is_same_v<Result, bool>, bool, T>;
    map_binary<Out, T, T>(a, b, output(call, 0, data_type_of<Out>(), broadcast_dims(a.dims(), b.dims())), functor);
  });
}

}  // namespace ort_train::kernels
