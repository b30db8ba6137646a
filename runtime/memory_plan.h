#pragma once

#include <cstddef>
#include <vector>

namespace ort_train::runtime {

/// Memory is laid out in whole cache lines, which are also the widest vector registers.
inline constexpr std::size_t memory_alignment = 64;

/// Memory that is needed from instruction `first` up to and including instruction `last`.
struct Interval {
  std::size_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  /// The place of each interval, aligned to `memory_alignment`.
  std::vector<std::size_t> offsets;
  /// The extent of the whole arena.
  std::size_t bytes = 0;
};

/// Several arrays in one region, one after the other, so that one operation covers them all.
struct Bucket {
  /// The place of each array in the region, aligned to `memory_alignment`. The alignment is a multiple of every element
  /// size, so arrays of one type form one larger array with gaps.
  std::vector<std::size_t> offsets;
  /// From the first array up to the end of the last.
  std::size_t bytes = 0;
};

/// The bucket of arrays with these numbers of bytes, in this order.
Bucket lay_out_bucket(const std::vector<std::size_t>& bytes);

/// Gives every interval a place in one arena so that intervals that overlap in time do not overlap in memory. Largest
/// first, each into the tightest gap that is free during its life ("greedy by size" of Pisarchyk and Lee, "Efficient
/// memory management for deep neural net inference", 2020). Equal inputs give equal plans.
MemoryPlan plan_memory(const std::vector<Interval>& intervals);

/// What no plan can undercut: the largest sum of intervals that are alive at one instruction, each rounded up to
/// `memory_alignment`.
std::size_t peak_bytes(const std::vector<Interval>& intervals);

}  // namespace ort_train::runtime
