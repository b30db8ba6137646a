// Trilu and OneHot: elements that depend on where they stand.
#include "kernels/arguments.h"
#include "runtime/cuda/constant_input.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/words.h"

namespace ort_train::runtime::cuda {

namespace {

template <typename Word>
struct Triangle {
  In<Word> x;
  Out<Word> y;
  std::int64_t rows, columns, diagonal;
  bool upper;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t above = i % columns - i / columns % rows - diagonal;
    y[i] = (upper ? above >= 0 : above <= 0) ? x[i] : Word(0);
  }
};

std::unique_ptr<Kernel> make_trilu(const Request& request) {
  const Dims dims = request.plain_input(0).dims();
  const auto diagonal = constant_integers(request, 1, {0});
  if (!diagonal || dims.size() < 2) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  dispatch_words(kernel->inputs[0].dtype(), [&](auto tag) {
    using Word = typename decltype(tag)::type;
    kernel->launches = [rows = dims[dims.size() - 2], columns = dims.back(), diagonal = diagonal->at(0),
                        upper = request.node.integer("upper", 1) != 0](const LaunchedKernel& self) {
      const Out<Word> y = self.out<Word>(0);
      self.for_each(y.count, Triangle<Word>{self.in<Word>(0), y, rows, columns, diagonal, upper});
    };
  });
  return kernel;
}

/// Codes outside of the depth are all "off".
template <typename Word, typename Index>
struct HotElements {
  In<Index> codes;
  In<Word> off_on;
  Out<Word> y;
  std::int64_t depth, inner;

  void arrays(Accesses& accesses) const { accesses(codes)(off_on)(y); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t place = i / inner % depth;
    const auto code = static_cast<std::int64_t>(codes[i / inner / depth * inner + i % inner]);
    y[i] = off_on[(code < 0 ? code + depth : code) == place ? 1 : 0];
  }
};

std::unique_ptr<Kernel> make_one_hot(const Request& request) {
  const Format codes = request.plain_input(0), y = request.plain_output(0);
  if (request.plain_input(2).size() != 2) return nullptr;
  const auto rank = static_cast<std::int64_t>(y.dims().size());
  const auto view = ort_train::kernels::view_along(
      y.dims(), ort_train::kernels::normalized_axis(request.node.integer("axis", -1), rank));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const auto launch = [&](auto word, auto index) {
    using Word = typename decltype(word)::type;
    using Index = typename decltype(index)::type;
    kernel->launches = [depth = view.extent, inner = view.inner](const LaunchedKernel& self) {
      const Out<Word> out = self.out<Word>(0);
      self.for_each(out.count, HotElements<Word, Index>{self.in<Index>(0), self.in<Word>(2), out, depth, inner});
    };
  };
  if (codes.dtype() != DataType::int64 && codes.dtype() != DataType::int32) return nullptr;
  dispatch_words(y.dtype(), [&](auto word) {
    if (codes.dtype() == DataType::int64) return launch(word, TypeTag<std::int64_t>{});
    launch(word, TypeTag<std::int32_t>{});
  });
  return kernel;
}

const FactoryRegistration trilu("Trilu", make_trilu);
const FactoryRegistration one_hot("OneHot", make_one_hot);

}  // namespace

}  // namespace ort_train::runtime::cuda
