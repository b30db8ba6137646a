#include <algorithm>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/functors/ordering.h"

// The operators that look for the largest or smallest elements along one axis.
namespace ort_train::kernels {

namespace {

/// The position of the element that no other one is `better` than; of equal ones the first or the last.
template <typename T, typename Better>
void arg_best(const T* source, const AxisView& view, bool last, std::int64_t* target, const Better& better) {
  const auto best_of = [&](const T* lane) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < view.extent; ++i) {
      const auto challenger = load(lane[i * view.inner]);
      const auto holder = load(lane[best * view.inner]);
      if (better(challenger, holder) || (last && !better(holder, challenger))) best = i;
    }
    return best;
  };
  parallel_for(view.outer * view.inner, 1 + cheap_grain / view.extent, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      target[i] = best_of(source + i / view.inner * view.extent * view.inner + i % view.inner);
    }
  });
}

template <typename Better>
void compute_arg_best(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const std::int64_t axis = normalized_axis(call.node.integer("axis", 0), x.rank());
  const AxisView view = view_along(x.dims(), axis);
  Dims dims = x.dims();
  if (call.node.integer("keepdims", 1) != 0) {
    dims[static_cast<std::size_t>(axis)] = 1;
  } else {
    dims.erase(dims.begin() + axis);
  }
  Tensor& out = output(call, 0, DataType::int64, dims);
  if (out.size() == 0) return;
  if (view.extent == 0) fail("there is no extreme element along axis ", axis, ", which is empty");
  const bool last = call.node.integer("select_last_index", 0) != 0;
  dispatch_numeric(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    arg_best(x.data<T>(), view, last, out.data<std::int64_t>(), Better{});
  });
}

template <typename C>
struct Candidate {
  C value;
  std::int64_t index;
};

/// The k best elements of every lane along an axis, best first, equal ones by their position.
template <typename T, typename Better>
void top_k(const T* source, const AxisView& view, std::int64_t k, T* values, std::int64_t* indices,
           const Better& better) {
  using C = Compute<T>;
  std::vector<Candidate<C>> candidates(static_cast<std::size_t>(view.extent));
  const auto in_front = [&](const Candidate<C>& a, const Candidate<C>& b) {
    return better(a.value, b.value) || (!better(b.value, a.value) && a.index < b.index);
  };
  for (std::int64_t lane = 0; lane < view.outer * view.inner; ++lane) {
    const std::int64_t outer = lane / view.inner;
    const std::int64_t inner = lane % view.inner;
    const T* first = source + outer * view.extent * view.inner + inner;
    for (std::int64_t i = 0; i < view.extent; ++i) {
      candidates[static_cast<std::size_t>(i)] = {load(first[i * view.inner]), i};
    }
    std::partial_sort(candidates.begin(), candidates.begin() + k, candidates.end(), in_front);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t index = candidates[static_cast<std::size_t>(i)].index;
      const std::int64_t position = (outer * k + i) * view.inner + inner;
      if (values != nullptr) values[position] = first[index * view.inner];
      if (indices != nullptr) indices[position] = index;
    }
  }
}

void compute_top_k(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const std::int64_t axis = normalized_axis(call.node.integer("axis", -1), x.rank());
  const AxisView view = view_along(x.dims(), axis);
  const std::int64_t k = integer_input(call, 1);
  if (k < 0 || k > view.extent) {
    fail("k is ", k, ", but axis ", axis, " of the shape ", to_string(x.dims()), " has ", view.extent, " elements");
  }
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = k;
  std::int64_t* indices = wants_output(call, 1) ? output(call, 1, DataType::int64, dims).data<std::int64_t>() : nullptr;
  dispatch_numeric(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* values = wants_output(call, 0) ? output(call, 0, x.dtype(), dims).data<T>() : nullptr;
    if (call.node.integer("largest", 1) != 0) {
      top_k(x.data<T>(), view, k, values, indices, functors::Above{});
    } else {
      top_k(x.data<T>(), view, k, values, indices, functors::Below{});
    }
  });
}

void compute_hardmax(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const AxisView view = view_along(x.dims(), normalized_axis(call.node.integer("axis", -1), x.rank()));
  Tensor& out = output(call, 0, x.dtype(), x.dims());
  if (out.size() == 0) return;
  std::vector<std::int64_t> best(static_cast<std::size_t>(view.outer * view.inner));
  dispatch_any_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    arg_best(x.data<T>(), view, false, best.data(), functors::Above{});
    T* target = out.data<T>();
    std::fill(target, target + out.size(), T(0.0f));
    for (std::int64_t i = 0; i < view.outer * view.inner; ++i) {
      const std::int64_t slice = i / view.inner * view.extent + best[static_cast<std::size_t>(i)];
      target[slice * view.inner + i % view.inner] = T(1.0f);
    }
  });
}

const Registration registrations[] = {
    {"ArgMax", compute_arg_best<functors::Above>},
    {"ArgMin", compute_arg_best<functors::Below>},
    {"TopK", compute_top_k},
    {"Hardmax", compute_hardmax},
};

}  // namespace

}  // namespace ort_train::kernels
