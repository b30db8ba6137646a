#pragma once

#include "runtime/cuda/launched_kernel.h"

// Additions to places that come more than once, in a fixed order: results are the same in every run.
namespace ort_train::runtime::cuda {

/// For each of many targets the nearest equal one before it and behind it, -1 where there is none.
struct LinkEqualTargets {
  In<std::int64_t> targets;
  Out<std::int64_t> previous, next;

  void arrays(Accesses& accesses) const { accesses(targets)(previous)(next); }

  template <typename Block>
  __host__ __device__ void operator()(std::int64_t row, const Block& block) const {
    const std::int64_t target = targets[row], count = targets.count;
    const auto later = [](std::int64_t a, std::int64_t b) { return a > b ? a : b; };
    const auto sooner = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
    const std::int64_t before = block.reduce(
        row, std::int64_t{-1}, [&](std::int64_t i) { return targets[i] == target ? i : -1; }, later);
    const std::int64_t behind = block.reduce(
        count - row - 1, count, [&](std::int64_t i) { return targets[row + 1 + i] == target ? row + 1 + i : count; },
        sooner);
    if (!block.is_first()) return;
    previous[row] = before;
    next[row] = behind == count ? -1 : behind;
  }
};

/// What LinkEqualTargets found: every chain of equal targets is the work of its first one.
struct Chains {
  In<std::int64_t> targets, previous, next;

  void arrays(Accesses& accesses) const { accesses(targets)(previous)(next); }
  /// Whether a chain starts here that leads somewhere.
  __host__ __device__ bool starts(std::int64_t i) const { return previous[i] < 0 && targets[i] >= 0; }
};

/// The scratchpad that it takes in a kernel: a factory makes it, the launches use it.
class ChainMemory {
 public:
  ChainMemory(LaunchedKernel& kernel, std::int64_t targets) : count_(targets) {
    kernel.scratchpad_bytes = static_cast<std::size_t>(3 * targets) * sizeof(std::int64_t);
  }

  Out<std::int64_t> targets(const LaunchedKernel& kernel) const { return part(kernel, 0); }
  /// After the targets have been written; targets below 0 are left out.
  Chains link(const LaunchedKernel& kernel) const {
    const Out<std::int64_t> targets = part(kernel, 0), previous = part(kernel, 1), next = part(kernel, 2);
    kernel.for_rows(count_, LinkEqualTargets{read(targets), previous, next});
    return {read(targets), read(previous), read(next)};
  }

 private:
  Out<std::int64_t> part(const LaunchedKernel& kernel, std::int64_t index) const {
    return {kernel.scratch<std::int64_t>(3 * count_).elements + index * count_, count_};
  }
  static In<std::int64_t> read(const Out<std::int64_t>& array) { return {array.elements, array.count}; }

  std::int64_t count_;
};

}  // namespace ort_train::runtime::cuda
