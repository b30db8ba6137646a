#include "runtime/memory_plan.h"

#include <doctest/doctest.h>

#include <random>

namespace ort_train::runtime {
namespace {

bool overlap(std::size_t begin_a, std::size_t bytes_a, std::size_t begin_b, std::size_t bytes_b) {
  return begin_a < begin_b + bytes_b && begin_b < begin_a + bytes_a;
}

void check_plan(const std::vector<Interval>& intervals) {
  const MemoryPlan plan = plan_memory(intervals);
  REQUIRE(plan.offsets.size() == intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    CHECK(plan.offsets[i] % memory_alignment == 0);
    CHECK(plan.offsets[i] + intervals[i].bytes <= plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = intervals[i].first <= intervals[j].last && intervals[j].first <= intervals[i].last;
      if (!together) continue;
      CHECK_FALSE(overlap(plan.offsets[i], intervals[i].bytes, plan.offsets[j], intervals[j].bytes));
    }
  }
  CHECK(plan.bytes >= peak_bytes(intervals));
}

std::vector<Interval> random_intervals(std::mt19937& random, int count) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % 50);
    intervals.push_back({random() % 5000, first, first + static_cast<int>(random() % 12)});
  }
  return intervals;
}

TEST_CASE("arrays that live at the same time never share memory") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) check_plan(random_intervals(random, 1 + round));
}

TEST_CASE("random plans stay near the lower bound") {
  std::mt19937 random(11);
  double planned = 0, bound = 0;
  for (int round = 0; round < 50; ++round) {
    const std::vector<Interval> intervals = random_intervals(random, 80);
    planned += static_cast<double>(plan_memory(intervals).bytes);
    bound += static_cast<double>(peak_bytes(intervals));
  }
  CHECK(planned < 1.15 * bound);
}

TEST_CASE("a chain of equal arrays needs two of them") {
  std::vector<Interval> chain(10);
  for (int i = 0; i < 10; ++i) chain[static_cast<std::size_t>(i)] = {1024, i, i + 1};
  check_plan(chain);
  CHECK(plan_memory(chain).bytes == 2048);
}

TEST_CASE("forward and backward: what lives long lies below what is short-lived") {
  // Activations kept for the backward pass, and one temporary after the other.
  const std::vector<Interval> intervals = {{640, 0, 9}, {640, 1, 8}, {128, 2, 3}, {128, 4, 5}, {128, 6, 7}};
  check_plan(intervals);
  CHECK(plan_memory(intervals).bytes == 1408);
}

TEST_CASE("the tightest gap is taken") {
  // The first three lie below each other; when the middle ones have died their gaps fit the last two exactly.
  const std::vector<Interval> intervals = {{4096, 0, 9}, {2048, 0, 1}, {1024, 0, 9}, {2048, 2, 3}};
  check_plan(intervals);
  CHECK(plan_memory(intervals).bytes == 7168);
}

TEST_CASE("empty arrays and an empty plan") {
  CHECK(plan_memory({}).bytes == 0);
  const std::vector<Interval> intervals = {{0, 0, 5}, {64, 0, 5}, {0, 2, 2}};
  check_plan(intervals);
  CHECK(plan_memory(intervals).bytes == 64);
}

TEST_CASE("sizes are rounded up to whole cache lines") {
  CHECK(plan_memory({{1, 0, 0}, {65, 0, 0}}).bytes == 192);
  CHECK(peak_bytes({{1, 0, 0}, {65, 0, 0}, {10, 1, 1}}) == 192);
}

TEST_CASE("arrays of a bucket lie one after the other, aligned") {
  const Bucket bucket = lay_out_bucket({4, 64, 0, 100, 8});
  CHECK(bucket.offsets == std::vector<std::size_t>{0, 64, 128, 128, 256});
  CHECK(bucket.bytes == 264);
  CHECK(lay_out_bucket({12}).bytes == 12);
  CHECK(lay_out_bucket({}).bytes == 0);
}

TEST_CASE("arrays of random buckets do not overlap, and gaps are shorter than the alignment") {
  std::mt19937 random(13);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> bytes(1 + random() % 20);
    for (std::size_t& array : bytes) array = random() % 300 * sizeof(double);
    const Bucket bucket = lay_out_bucket(bytes);
    std::size_t end = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      CHECK(bucket.offsets[i] % memory_alignment == 0);
      CHECK(bucket.offsets[i] >= end);
      CHECK(bucket.offsets[i] - end < memory_alignment);
      end = bucket.offsets[i] + bytes[i];
    }
    CHECK(bucket.bytes == end);
  }
}

TEST_CASE("equal inputs give equal plans") {
  std::mt19937 random(3);
  const std::vector<Interval> intervals = random_intervals(random, 60);
  CHECK(plan_memory(intervals).offsets == plan_memory(intervals).offsets);
}

}  // namespace
}  // namespace ort_train::runtime
