#include <cstring>

#include "base/dispatch.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/reorder.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

namespace {

/// Elements are moved as unsigned numbers of their size.
template <typename Word>
struct MoveElements {
  In<Word> source;
  Out<Word> target;
  StridedPositions<2> positions;

  void arrays(Accesses& accesses) const { accesses(source)(target); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const auto offsets = positions(i);
    target[offsets.of[1]] = source[offsets.of[0]];
  }
};

class ReorderKernel : public Kernel {
 public:
  ReorderKernel(const Context& context, const Format& from, const Format& to)
      : context_(context), positions_(strided_positions<2>(from.dims(), {from.strides(), to.strides()})) {
    name = from == to ? "copy" : "own reorder";
    inputs = {from};
    outputs = {to};
  }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }

  void run() override {
    if (inputs[0] == outputs[0]) {
      copy(pointers_.outputs[0], pointers_.inputs[0], inputs[0].bytes(), context_.compute);
      return;
    }
    switch (size_of(inputs[0].dtype())) {
      case 1: return move<std::uint8_t>();
      case 2: return move<std::uint16_t>();
      case 4: return move<std::uint32_t>();
      default: return move<std::uint64_t>();
    }
  }

 private:
  template <typename Word>
  void move() const {
    const std::int64_t count = inputs[0].size();
    for_each(context_.compute, "reorder", count,
             MoveElements<Word>{{pointers_.input<Word>(0), count}, {pointers_.output<Word>(0), count}, positions_});
  }

  const Context& context_;
  StridedPositions<2> positions_;
  Pointers pointers_;
};

}  // namespace

std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to) {
  return std::make_unique<ReorderKernel>(context, from, to);
}

Tensor reordered(const Tensor& elements, const Format& from, const Format& to) {
  if (from == to) return elements;
  const auto positions = strided_positions<2>(from.dims(), {from.strides(), to.strides()});
  const std::size_t bytes = size_of(from.dtype());
  Tensor result(from.dtype(), from.dims());
  for (std::int64_t i = 0; i < from.size(); ++i) {
    const auto offsets = positions(i);
    std::memcpy(result.raw() + static_cast<std::size_t>(offsets.of[1]) * bytes,
                elements.raw() + static_cast<std::size_t>(offsets.of[0]) * bytes, bytes);
  }
  return result;
}

}  // namespace ort_train::runtime::cuda
