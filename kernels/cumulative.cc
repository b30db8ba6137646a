#include "kernels/elementwise.h"
#include "kernels/functors/reducers.h"

namespace ort_train::kernels {

namespace {

/// Running results of a reducer along an axis, in either direction, with or without the element itself.
template <typename Reducer, typename T>
void accumulate(const T* source, const AxisView& view, bool exclusive, bool reverse, T* target) {
  const std::int64_t step = reverse ? -view.inner : view.inner;
  const std::int64_t start = reverse ? (view.extent - 1) * view.inner : 0;
  const auto accumulate_lane = [&](std::int64_t position) {
    auto state = Reducer::empty();
    for (std::int64_t i = 0; i < view.extent; ++i, position += step) {
      const auto element = load(source[position]);
      if (!exclusive) Reducer::add(state, element);
      target[position] = static_cast<T>(Reducer::finish(state, i));
      if (exclusive) Reducer::add(state, element);
    }
  };
  parallel_for(view.outer * view.inner, 1 + cheap_grain / view.extent, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t lane = begin; lane < end; ++lane) {
      accumulate_lane(lane / view.inner * view.extent * view.inner + lane % view.inner + start);
    }
  });
}

template <template <typename> typename Reducer>
void compute_cumulative(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const AxisView view = view_along(x.dims(), normalized_axis(integer_input(call, 1), x.rank()));
  const bool exclusive = call.node.integer("exclusive", 0) != 0;
  const bool reverse = call.node.integer("reverse", 0) != 0;
  Tensor& out = output(call, 0, x.dtype(), x.dims());
  if (out.size() == 0) return;
  dispatch_numeric(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    accumulate<Reducer<Compute<T>>>(x.data<T>(), view, exclusive, reverse, out.data<T>());
  });
}

const Registration registrations[] = {
    {"CumSum", compute_cumulative<functors::SumReducer>},
    {"CumProd", compute_cumulative<functors::ProductReducer>},
};

}  // namespace

}  // namespace ort_train::kernels
