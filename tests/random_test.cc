#include "base/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

using namespace ort_train;

// The known answers are those published with the authors' library (Random123, kat_vectors).
TEST_CASE("Philox4x32-10 gives the known answers") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(philox4x32_10({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}) ==
        PhiloxCounter{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(philox4x32_10({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
        PhiloxCounter{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("a stream repeats for its key and differs for every other") {
  const auto first = [](std::uint64_t seed, RandomPurpose purpose, std::uint32_t epoch, std::uint64_t sample) {
    return RandomStream(seed, purpose, epoch, sample).next64();
  };
  CHECK(first(1, RandomPurpose::shuffle, 2, 3) == first(1, RandomPurpose::shuffle, 2, 3));
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (RandomPurpose purpose : {RandomPurpose::shuffle, RandomPurpose::augmentation}) {
      for (std::uint32_t epoch : {0u, 1u, 7u}) {
        for (std::uint64_t sample : {0ull, 1ull, 1ull << 32, 1ull << 55})
          seen.insert(first(seed, purpose, epoch, sample));
      }
    }
  }
  CHECK(seen.size() == 3 * 2 * 3 * 4);
}

TEST_CASE("whole numbers below a bound are in range and evenly spread") {
  RandomStream random(5, RandomPurpose::split);
  std::vector<int> counts(7, 0);
  const int draws = 70000;
  for (int i = 0; i < draws; ++i) ++counts.at(random.below(7));
  for (const int count : counts) CHECK(std::abs(count - draws / 7) < 500);
  CHECK(random.below(1) == 0);
}

TEST_CASE("uniform and normal numbers have their mean and variance") {
  RandomStream random(6, RandomPurpose::initialization);
  const int draws = 100000;
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < draws; ++i) {
    const float value = random.uniform(-2.0f, 4.0f);
    REQUIRE(value >= -2.0f);
    REQUIRE(value <= 4.0f);
    sum += value;
    squares += (value - 1.0) * (value - 1.0);
    const float normal = random.normal();
    normal_sum += normal;
    normal_squares += static_cast<double>(normal) * normal;
  }
  CHECK(sum / draws == doctest::Approx(1.0).epsilon(0.02));
  CHECK(squares / draws == doctest::Approx(3.0).epsilon(0.02));
  CHECK(std::fabs(normal_sum / draws) < 0.01);
  CHECK(normal_squares / draws == doctest::Approx(1.0).epsilon(0.02));
}

TEST_CASE("a chance of zero never happens and a chance of one always") {
  RandomStream random(7, RandomPurpose::augmentation);
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(random.chance(0.0f));
    CHECK(random.chance(1.0f));
  }
}
