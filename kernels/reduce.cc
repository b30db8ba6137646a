#include "kernels/functors/reducers.h"
#include "kernels/indexing.h"
#include "kernels/reduction.h"

namespace ort_train::kernels {

namespace {

/// Which axes the node reduces: those of input 1; without any, all of them or, on request, none.
std::vector<bool> reduced_axes(const Invocation& call) {
  const std::int64_t rank = call.inputs.at(0).rank();
  std::vector<std::int64_t> axes = normalized_axes(integers_input(call, 1), rank);
  if (axes.empty() && call.node.integer("noop_with_empty_axes", 0) == 0) axes = all_axes(rank);
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = true;
  return reduced;
}

Dims reduced_dims(const Dims& dims, const std::vector<bool>& reduced, bool keep_dims) {
  Dims result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(dims[i]);
    } else if (keep_dims) {
      result.push_back(1);
    }
  }
  return result;
}

template <template <typename> typename Reducer, typename Types>
void reduce(Invocation& call, const Types& types) {
  const Tensor& x = call.inputs.at(0);
  const std::vector<bool> reduced = reduced_axes(call);
  const bool keep_dims = call.node.integer("keepdims", 1) != 0;
  Tensor& out = output(call, 0, x.dtype(), reduced_dims(x.dims(), reduced, keep_dims));
  const ReductionPlan plan(x.dims(), reduced);
  types(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Reduction<Reducer<Compute<T>>>::run(plan, x.data<T>(), out.data<T>());
  });
}

template <template <typename> typename Reducer>
void compute_numeric(Invocation& call) {
  reduce<Reducer>(call, numeric_types);
}

template <template <typename> typename Reducer>
void compute_floating(Invocation& call) {
  reduce<Reducer>(call, floating_types);
}

template <template <typename> typename Reducer>
void compute_any(Invocation& call) {
  reduce<Reducer>(call, all_types);
}

void compute_mean(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  if (is_integer(x.dtype()) && x.size() == 0) fail("the mean of no integers is undefined; the input is empty");
  reduce<functors::MeanReducer>(call, numeric_types);
}

const Registration registrations[] = {
    {"ReduceSum", compute_numeric<functors::SumReducer>},
    {"ReduceMean", compute_mean},
    {"ReduceMax", compute_any<functors::MaximumReducer>},
    {"ReduceMin", compute_any<functors::MinimumReducer>},
    {"ReduceProd", compute_numeric<functors::ProductReducer>},
    {"ReduceL1", compute_numeric<functors::AbsoluteSumReducer>},
    {"ReduceL2", compute_numeric<functors::EuclideanNormReducer>},
    {"ReduceSumSquare", compute_numeric<functors::SquareSumReducer>},
    {"ReduceLogSum", compute_floating<functors::LogSumReducer>},
    {"ReduceLogSumExp", compute_floating<functors::LogSumExpReducer>},
};

}  // namespace

}  // namespace ort_train::kernels
