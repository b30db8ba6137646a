// Random numbers and dropout. They belong to (seed, stream, step, row, element), and are the same as on the CPU.
#include "kernels/dropout_scale.h"
#include "kernels/functors/random_numbers.h"
#include "kernels/random_places.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

constexpr std::int64_t words_a_block = 4;

/// The elements of an array whose numbers come from one block of random words, which is the work of one thread.
struct RandomBlocks {
  functors::RandomNumbers numbers;
  functors::RandomRuns runs;
  /// Elements that share a block of words.
  std::int64_t size;
  In<std::int64_t> step, first_sample;

  void arrays(Accesses& accesses) const { accesses(step)(first_sample); }
  /// In a run, wherever it starts.
  __host__ __device__ std::int64_t most_in_run() const { return (runs.length + 2 * (size - 1)) / size; }
  __host__ __device__ std::int64_t count() const { return runs.count * most_in_run(); }

  /// Calls body(words, place in the block, position in the array) for the elements of block number `i`.
  template <typename Body>
  __host__ __device__ void for_each_element(std::int64_t i, const Body& body) const {
    const std::int64_t run = i / most_in_run(), sample = first_sample[0];
    const std::int64_t begin = runs.element(run, sample), end = begin + runs.length;
    const std::int64_t block = begin / size + i % most_in_run();
    if (block * size >= end) return;
    const auto words = numbers.in_step(static_cast<std::uint64_t>(step[0]))
                           .words(runs.row(run, sample), static_cast<std::uint32_t>(block));
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t element = block * size + k;
      if (element >= begin && element < end) body(words, k, run * runs.length + element - begin);
    }
  }
};

/// Inputs 1 and 2 are the step and the first sample.
RandomBlocks random_blocks(const LaunchedKernel& kernel, const functors::RandomNumbers& numbers,
                           const functors::RandomRuns& runs, std::int64_t size) {
  return {numbers, runs, size, kernel.in<std::int64_t>(1), kernel.in<std::int64_t>(2)};
}

functors::RandomNumbers random_numbers(const graph::Node& node, RandomPurpose purpose) {
  return {purpose, static_cast<std::uint64_t>(node.integer("seed", 0)),
          static_cast<std::uint64_t>(node.integer("stream", 0)), 0};
}

template <typename T>
struct DropElements {
  RandomBlocks blocks;
  In<T> x;
  Out<T> y;
  Out<bool> mask;
  float ratio;
  Computed<T> scale;

  void arrays(Accesses& accesses) const {
    blocks.arrays(accesses);
    accesses(x)(y)(mask);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    blocks.for_each_element(i, [&](const PhiloxCounter& words, std::int64_t k, std::int64_t position) {
      const bool kept = to_unit_float(words[static_cast<std::size_t>(k)]) >= ratio;
      y[position] = stored<T>(kept ? loaded(x[position]) * scale : Computed<T>(0));
      if (mask.elements != nullptr) mask[position] = kept;
    });
  }
};

std::unique_ptr<Kernel> make_dropout(const Request& request) {
  const graph::Node& node = request.node;
  const Format x = request.plain_input(0);
  if (!FloatingTypes::contain(x.dtype())) return nullptr;
  const float ratio = node.real("ratio", 0.5F);
  const double scale = ort_train::kernels::dropout_scale(ratio);
  const auto numbers = random_numbers(node, RandomPurpose::dropout);
  const auto runs = ort_train::kernels::random_runs(node, x.dims());
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=](const LaunchedKernel& self) {
      const RandomBlocks blocks = random_blocks(self, numbers, runs, words_a_block);
      self.for_each(blocks.count(), DropElements<T>{blocks, self.in<T>(0), self.out<T>(0), self.out<bool>(1), ratio,
                                                    static_cast<Computed<T>>(scale)});
    };
  });
  return kernel;
}

template <typename T>
struct DropGradient {
  In<T> dy;
  In<bool> mask;
  Out<T> dx;
  Computed<T> scale;

  void arrays(Accesses& accesses) const { accesses(dy)(mask)(dx); }
  __host__ __device__ void operator()(std::int64_t i) const {
    dx[i] = stored<T>(mask[i] ? loaded(dy[i]) * scale : Computed<T>(0));
  }
};

std::unique_ptr<Kernel> make_dropout_gradient(const Request& request) {
  const Format dy = request.plain_input(0);
  if (!FloatingTypes::contain(dy.dtype()) || request.plain_input(1).dims() != dy.dims()) return nullptr;
  const double scale = ort_train::kernels::dropout_scale(request.node.real("ratio", 0.5F));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  FloatingTypes::dispatch(dy.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [scale](const LaunchedKernel& self) {
      const In<T> gradient = self.in<T>(0);
      self.for_each(gradient.count,
                    DropGradient<T>{gradient, self.in<bool>(1), self.out<T>(0), static_cast<Computed<T>>(scale)});
    };
  });
  return kernel;
}

template <typename T, typename Distribution>
struct DrawElements {
  RandomBlocks blocks;
  Out<T> y;
  Distribution distribution;

  void arrays(Accesses& accesses) const {
    blocks.arrays(accesses);
    accesses(y);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    blocks.for_each_element(i, [&](const PhiloxCounter& words, std::int64_t k, std::int64_t position) {
      y[position] = stored<T>(distribution(words.data() + k * Distribution::words));
    });
  }
};

template <typename Distribution>
std::unique_ptr<Kernel> make_drawing(const Request& request, const Distribution& distribution) {
  const Format y = request.plain_output(0);
  const auto numbers = random_numbers(request.node, RandomPurpose::random_operator);
  const auto runs = ort_train::kernels::random_runs(request.node, y.dims());
  auto kernel = std::make_unique<LaunchedKernel>(request);
  // Its elements are not read.
  kernel->inputs[0] = request.input(0);
  FloatingTypes::dispatch(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=](const LaunchedKernel& self) {
      const RandomBlocks blocks = random_blocks(self, numbers, runs, words_a_block / Distribution::words);
      self.for_each(blocks.count(), DrawElements<T, Distribution>{blocks, self.out<T>(0), distribution});
    };
  });
  return kernel;
}

std::unique_ptr<Kernel> make_random_values(const Request& request) {
  const graph::Node& node = request.node;
  if (!FloatingTypes::contain(request.plain_output(0).dtype())) return nullptr;
  const auto real = [&node](const char* name, float fallback) {
    return static_cast<double>(node.real(name, fallback));
  };
  const std::string distribution = node.string("distribution", "uniform");
  if (distribution == "uniform") return make_drawing(request, functors::Uniform{real("low", 0), real("high", 1)});
  if (distribution == "normal") return make_drawing(request, functors::Normal{real("mean", 0), real("scale", 1)});
  if (distribution == "gumbel") return make_drawing(request, functors::Gumbel{});
  return nullptr;
}

const TrainingFactoryRegistration dropout("TrainingDropout", make_dropout);
const TrainingFactoryRegistration dropout_gradient("DropoutGrad", make_dropout_gradient);
const TrainingFactoryRegistration random_values("RandomValues", make_random_values);

}  // namespace

}  // namespace ort_train::runtime::cuda
