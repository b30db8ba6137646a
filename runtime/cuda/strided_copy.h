#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cuda/kernel.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

/// Where the elements of a copy lie in input or output number `index` of a kernel: the first one, whose indices are all
/// 0, and how far neighbours along each axis lie apart. In elements; strides may be 0 (repeat) or negative (backwards).
struct Place {
  std::size_t index = 0;
  std::int64_t first = 0;
  Dims strides;
};

/// Moves elements, whatever they are: any number of strided copies from inputs to outputs.
class StridedCopyKernel : public Kernel {
 public:
  StridedCopyKernel(const Context& context, std::vector<Format> inputs, std::vector<Format> outputs);

  /// False when the elements lie along more axes than a kernel goes through; the kernel is of no use then.
  [[nodiscard]] bool add(const Dims& dims, Place source, Place target);
  /// The first output is all zeros but for what is copied.
  void clear_output() { clears_ = true; }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override;

 private:
  struct Copy {
    Dims dims;
    Place source, target;
    StridedPositions<2> positions;
    std::int64_t count;
  };
  void run(const Copy& copy) const;
  bool is_dense(const Copy& copy) const;
  int elements_a_word(const Copy& copy) const;

  const Context& context_;
  bool clears_ = false;
  std::vector<Copy> copies_;
  Pointers pointers_;
};

/// The kernel of one copy from input 0 to the only output, a view where the elements lie right already. Null where the
/// elements lie along more axes than a kernel goes through. `dims` are the extents of the output or finer ones, the
/// strides those of the operands along them.
std::unique_ptr<Kernel> make_strided_copy(const Request& request, std::vector<Format> inputs, const Format& output,
                                          const Dims& dims, Dims source, Dims target);

/// The formats of a kernel that takes its first input as it lies, and others row-major.
std::vector<Format> with_first_as_it_lies(const Request& request);

}  // namespace ort_train::runtime::cuda
