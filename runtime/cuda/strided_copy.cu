#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/strided_copy.h"
#include "runtime/cuda/words.h"

namespace ort_train::runtime::cuda {

namespace {

/// Elements, or runs of neighbours, are moved as unsigned numbers of their size.
template <typename Word>
struct MoveWords {
  In<Word> source;
  Out<Word> target;
  std::int64_t source_first, target_first;
  StridedPositions<2> positions;

  void arrays(Accesses& accesses) const { accesses(source)(target); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const auto offsets = positions(i);
    target[target_first + offsets.of[1]] = source[source_first + offsets.of[0]];
  }
};

/// Neighbouring threads write neighbouring elements.
void sort_by_target(Dims& dims, Dims& source, Dims& target) {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(target[a]) > std::abs(target[b]); });
  const auto sorted = [&](const Dims& values) {
    Dims result;
    for (const std::size_t axis : order) result.push_back(values[axis]);
    return result;
  };
  dims = sorted(dims);
  source = sorted(source);
  target = sorted(target);
}

/// Axes of one element have no say.
void drop_single(Dims& dims, Dims& source, Dims& target) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] != 1) continue;
    for (Dims* values : {&dims, &source, &target}) values->erase(values->begin() + static_cast<std::ptrdiff_t>(axis));
  }
}

bool is_aligned(const std::byte* memory, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

/// The same copy of words that are `factor` neighbours each.
StridedPositions<2> in_words(StridedPositions<2> positions, std::int64_t factor) {
  positions.dims[positions.axes - 1] /= factor;
  for (auto& strides : positions.strides) {
    for (int axis = 0; axis + 1 < positions.axes; ++axis) strides[axis] /= factor;
  }
  return positions;
}

bool lie_alike(const Dims& dims, const Dims& a, const Dims& b) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] > 1 && a[axis] != b[axis]) return false;
  }
  return true;
}

}  // namespace

StridedCopyKernel::StridedCopyKernel(const Context& context, std::vector<Format> inputs, std::vector<Format> outputs)
    : context_(context) {
  name = "own copy";
  this->inputs = std::move(inputs);
  this->outputs = std::move(outputs);
}

bool StridedCopyKernel::add(const Dims& dims, Place source, Place target) {
  Copy copy{dims, std::move(source), std::move(target), {}, element_count(dims)};
  if (copy.count == 0) return true;
  drop_single(copy.dims, copy.source.strides, copy.target.strides);
  sort_by_target(copy.dims, copy.source.strides, copy.target.strides);
  if (copy.dims.size() > most_axes) return false;
  copy.positions = strided_positions<2>(copy.dims, {copy.source.strides, copy.target.strides});
  copies_.push_back(std::move(copy));
  return true;
}

void StridedCopyKernel::run() {
  if (clears_) clear(pointers_.outputs[0], outputs[0].bytes(), context_.compute);
  for (const Copy& copy : copies_) {
    if (pointers_.outputs[copy.target.index] != nullptr) run(copy);
  }
}

bool StridedCopyKernel::is_dense(const Copy& copy) const {
  const StridedPositions<2>& positions = copy.positions;
  return positions.axes == 0 || (positions.axes == 1 && positions.strides[0][0] == 1 && positions.strides[1][0] == 1);
}

// Runs of neighbours are moved in words of up to 8 bytes, where all of them start at multiples of that.
int StridedCopyKernel::elements_a_word(const Copy& copy) const {
  const StridedPositions<2>& positions = copy.positions;
  const int last = positions.axes - 1;
  const std::size_t bytes = size_of(inputs[copy.source.index].dtype());
  if (positions.strides[0][last] != 1 || positions.strides[1][last] != 1) return 1;
  const auto divides = [&](std::int64_t factor) {
    bool all = positions.dims[last] % factor == 0 && copy.source.first % factor == 0 && copy.target.first % factor == 0;
    for (int axis = 0; axis < last; ++axis) {
      all = all && positions.strides[0][axis] % factor == 0 && positions.strides[1][axis] % factor == 0;
    }
    return all && is_aligned(pointers_.inputs[copy.source.index], bytes * static_cast<std::size_t>(factor)) &&
           is_aligned(pointers_.outputs[copy.target.index], bytes * static_cast<std::size_t>(factor));
  };
  int factor = 1;
  while (bytes * static_cast<std::size_t>(factor) < 8 && divides(2 * factor)) factor *= 2;
  return factor;
}

void StridedCopyKernel::run(const Copy& copy) const {
  const Format& source = inputs[copy.source.index];
  const Format& target = outputs[copy.target.index];
  const std::size_t bytes = size_of(source.dtype());
  if (is_dense(copy)) {
    cuda::copy(pointers_.outputs[copy.target.index] + static_cast<std::size_t>(copy.target.first) * bytes,
               pointers_.inputs[copy.source.index] + static_cast<std::size_t>(copy.source.first) * bytes,
               static_cast<std::size_t>(copy.count) * bytes, context_.compute);
    return;
  }
  const int factor = elements_a_word(copy);
  const auto move = [&](auto tag) {
    using Word = typename decltype(tag)::type;
    for_each(context_.compute, "strided copy", copy.count / factor,
             MoveWords<Word>{{pointers_.input<Word>(copy.source.index), source.size() / factor},
                             {pointers_.output<Word>(copy.target.index), target.size() / factor},
                             copy.source.first / factor,
                             copy.target.first / factor,
                             factor == 1 ? copy.positions : in_words(copy.positions, factor)});
  };
  dispatch_words(bytes * static_cast<std::size_t>(factor), move);
}

std::unique_ptr<Kernel> make_strided_copy(const Request& request, std::vector<Format> inputs, const Format& output,
                                          const Dims& dims, Dims source, Dims target) {
  const bool is_view = inputs[0].size() == output.size() && lie_alike(dims, source, target);
  auto kernel = std::make_unique<StridedCopyKernel>(request.context, std::move(inputs), std::vector<Format>{output});
  if (is_view) {
    kernel->name = "view";
    kernel->views = {{0, 0}};
    return kernel;
  }
  if (!kernel->add(dims, {0, 0, std::move(source)}, {0, 0, std::move(target)})) return nullptr;
  return kernel;
}

std::vector<Format> with_first_as_it_lies(const Request& request) {
  std::vector<Format> formats = request.plain_inputs();
  formats[0] = request.input(0);
  return formats;
}

}  // namespace ort_train::runtime::cuda
