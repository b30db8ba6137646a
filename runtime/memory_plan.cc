#include "runtime/memory_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace ort_train::runtime {

namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

bool overlap_in_time(const Interval& a, const Interval& b) { return a.first <= b.last && b.first <= a.last; }

struct Placement {
  std::size_t offset = 0, bytes = 0;
  const Interval* interval = nullptr;
};

// `placed` is sorted by offset.
std::size_t find_offset(const Interval& interval, const std::vector<Placement>& placed) {
  const std::size_t needed = rounded(interval.bytes);
  std::size_t gap_begin = 0, best = 0, best_gap = std::numeric_limits<std::size_t>::max();
  bool found = false;
  for (const Placement& other : placed) {
    if (!overlap_in_time(interval, *other.interval)) continue;
    if (other.offset > gap_begin) {
      const std::size_t gap = other.offset - gap_begin;
      if (gap >= needed && gap < best_gap) {
        best = gap_begin;
        best_gap = gap;
        found = true;
      }
    }
    gap_begin = std::max(gap_begin, other.offset + other.bytes);
  }
  return found ? best : gap_begin;
}

}  // namespace

Bucket lay_out_bucket(const std::vector<std::size_t>& bytes) {
  Bucket bucket;
  for (const std::size_t array : bytes) {
    bucket.offsets.push_back(rounded(bucket.bytes));
    bucket.bytes = bucket.offsets.back() + array;
  }
  return bucket;
}

MemoryPlan plan_memory(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return intervals[a].bytes > intervals[b].bytes; });

  MemoryPlan plan;
  plan.offsets.resize(intervals.size());
  std::vector<Placement> placed;
  for (const std::size_t index : order) {
    const Interval& interval = intervals[index];
    if (interval.bytes == 0) continue;
    const Placement placement{find_offset(interval, placed), rounded(interval.bytes), &interval};
    plan.offsets[index] = placement.offset;
    plan.bytes = std::max(plan.bytes, placement.offset + placement.bytes);
    const auto position = std::upper_bound(placed.begin(), placed.end(), placement,
                                           [](const Placement& a, const Placement& b) { return a.offset < b.offset; });
    placed.insert(position, placement);
  }
  return plan;
}

std::size_t peak_bytes(const std::vector<Interval>& intervals) {
  // Bytes that appear and disappear at each instruction; subtraction wraps around and comes back.
  std::map<int, std::size_t> changes;
  for (const Interval& interval : intervals) {
    changes[interval.first] += rounded(interval.bytes);
    changes[interval.last + 1] -= rounded(interval.bytes);
  }
  std::size_t alive = 0, peak = 0;
  for (const auto& [instruction, change] : changes) {
    alive += change;
    peak = std::max(peak, alive);
  }
  return peak;
}

}  // namespace ort_train::runtime
