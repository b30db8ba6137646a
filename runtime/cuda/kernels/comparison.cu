// Comparisons, logic, and the choice between two operands.
#include "kernels/functors/arithmetic.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// Elements are only moved, as unsigned numbers of their size.
template <typename Word>
struct SelectElements {
  In<bool> condition;
  In<Word> x, y;
  Out<Word> result;
  StridedPositions<3> positions;

  void arrays(Accesses& accesses) const { accesses(condition)(x)(y)(result); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const auto offsets = positions(i);
    result[i] = condition[offsets.of[0]] ? x[offsets.of[1]] : y[offsets.of[2]];
  }
};

template <typename Word>
LaunchedKernel::Launches select(const ElementwisePlan& plan) {
  return [count = plan.count(), positions = plan.positions<3>()](const LaunchedKernel& self) {
    self.for_each(count, SelectElements<Word>{self.in<bool>(0), self.in<Word>(1), self.in<Word>(2), self.out<Word>(0),
                                              positions});
  };
}

std::unique_ptr<Kernel> make_where(const Request& request) {
  const ElementwisePlan plan(request, 3);
  if (!plan.fits() || request.plain_input(1).dtype() != request.plain_input(2).dtype()) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, 3);
  switch (size_of(plan.output().dtype())) {
    case 1: kernel->launches = select<std::uint8_t>(plan); break;
    case 2: kernel->launches = select<std::uint16_t>(plan); break;
    case 4: kernel->launches = select<std::uint32_t>(plan); break;
    default: kernel->launches = select<std::uint64_t>(plan); break;
  }
  return kernel;
}

const FactoryRegistration registrations[] = {
    {"Equal", binary<AllTypes, functors::Equal>},
    {"Greater", binary<NumericTypes, functors::Greater>},
    {"Less", binary<NumericTypes, functors::Less>},
    {"GreaterOrEqual", binary<NumericTypes, functors::GreaterOrEqual>},
    {"LessOrEqual", binary<NumericTypes, functors::LessOrEqual>},
    {"And", binary<BooleanType, functors::BitwiseAnd>},
    {"Or", binary<BooleanType, functors::BitwiseOr>},
    {"Xor", binary<BooleanType, functors::BitwiseXor>},
    {"Where", make_where},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
