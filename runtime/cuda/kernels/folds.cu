// Sum, Mean, Min and Max of any number of operands.
#include <algorithm>

#include "kernels/functors/arithmetic.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// Operands that one launch goes through.
constexpr int most_operands = 8;

template <typename T>
__host__ __device__ T divided(T sum, std::int64_t operands) {
  return operands == 1 ? sum : sum / static_cast<T>(operands);
}

/// Operands are combined in their order, in the type of computation.
template <typename T, typename Combine>
struct FoldElements {
  In<T> operands[most_operands];
  int count;
  Out<T> y;
  StridedPositions<most_operands> positions;
  std::int64_t divisor;

  void arrays(Accesses& accesses) const {
    for (int k = 0; k < count; ++k) accesses(operands[k]);
    accesses(y);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const auto offsets = positions(i);
    Computed<T> result = loaded(operands[0][offsets.of[0]]);
    for (int k = 1; k < count; ++k) result = Combine{}(result, loaded(operands[k][offsets.of[k]]));
    y[i] = stored<T>(divided(result, divisor));
  }
};

template <typename Combine>
std::unique_ptr<Kernel> make_fold(const Request& request, std::int64_t divisor) {
  const DataType type = request.plain_output(0).dtype();
  const std::size_t operands = request.inputs.size();
  const ElementwisePlan plan(request, operands);
  if (!NumericTypes::contain(type) || !request.all_of_type(type) || !plan.fits() || operands > most_operands) {
    return nullptr;
  }
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, operands);
  NumericTypes::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    FoldElements<T, Combine> fold = {};
    fold.count = static_cast<int>(operands);
    fold.positions = plan.positions<most_operands>();
    fold.divisor = divisor;
    kernel->launches = [count = plan.count(), fold](const LaunchedKernel& self) {
      FoldElements<T, Combine> bound = fold;
      for (int k = 0; k < bound.count; ++k) bound.operands[k] = self.in<T>(static_cast<std::size_t>(k));
      bound.y = self.out<T>(0);
      self.for_each(count, bound);
    };
  });
  return kernel;
}

template <typename Combine>
std::unique_ptr<Kernel> fold(const Request& request) {
  return make_fold<Combine>(request, 1);
}

std::unique_ptr<Kernel> make_mean(const Request& request) {
  return make_fold<functors::Add>(request, static_cast<std::int64_t>(request.inputs.size()));
}

const FactoryRegistration registrations[] = {
    {"Sum", fold<functors::Add>},
    {"Mean", make_mean},
    {"Min", fold<functors::Minimum>},
    {"Max", fold<functors::Maximum>},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
