// The Reduce operators and sums over channels.
#include <numeric>

#include "kernels/functors/reducers.h"
#include "runtime/cuda/reduction.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// Input 1 holds the axes; without any, all are reduced or, on request, none.
template <typename Types, template <typename> typename Reducer>
std::unique_ptr<Kernel> reduce(const Request& request) {
  const std::size_t rank = request.plain_input(0).dims().size();
  std::vector<std::int64_t> axes;
  if (request.has_input(1)) {
    const graph::Value* value = request.node.input(1);
    if (!value->is_constant()) return nullptr;
    axes = value->initial().to_int64s();
  }
  const bool all = axes.empty() && request.node.integer("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(rank, all);
  for (const std::int64_t axis : axes) {
    reduced.at(static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)) = true;
  }
  return make_reduction<Types, Reducer>(request, reduced);
}

std::unique_ptr<Kernel> make_channel_sum(const Request& request) {
  std::vector<bool> reduced(request.plain_input(0).dims().size(), true);
  reduced.at(1) = false;
  return make_reduction<TrainingTypes, functors::SumReducer>(request, reduced);
}

const FactoryRegistration registrations[] = {
    {"ReduceSum", reduce<NumericTypes, functors::SumReducer>},
    {"ReduceMean", reduce<NumericTypes, functors::MeanReducer>},
    {"ReduceMax", reduce<NumericTypes, functors::MaximumReducer>},
    {"ReduceMin", reduce<NumericTypes, functors::MinimumReducer>},
    {"ReduceProd", reduce<FloatingTypes, functors::ProductReducer>},
    {"ReduceL1", reduce<FloatingTypes, functors::AbsoluteSumReducer>},
    {"ReduceL2", reduce<FloatingTypes, functors::EuclideanNormReducer>},
    {"ReduceSumSquare", reduce<FloatingTypes, functors::SquareSumReducer>},
    {"ReduceLogSum", reduce<FloatingTypes, functors::LogSumReducer>},
    {"ReduceLogSumExp", reduce<FloatingTypes, functors::LogSumExpReducer>},
};

const TrainingFactoryRegistration channel_sum("ChannelSum", make_channel_sum);

}  // namespace

}  // namespace ort_train::runtime::cuda
