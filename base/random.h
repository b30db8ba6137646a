#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace ort_train {

/// Philox4x32-10, the counter-based generator of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel
/// random numbers: as easy as 1, 2, 3" (SC'11): a bijection of a 128-bit counter under a 64-bit key. It has no state,
/// so any thread can compute any number of a sequence, and nothing depends on the order in which that happens.
using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// A float in [0, 1) from the upper 24 bits of a word.
constexpr float to_unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// What a random number is for. Two purposes never share numbers, whatever the other parts of the key are.
enum class RandomPurpose : std::uint8_t {
  shuffle = 1,
  split = 2,
  augmentation = 3,
  initialization = 4,
  dropout = 5,
  random_operator = 6
};

/// The sequence of random numbers that belongs to (seed, purpose, epoch, sample). Distinct keys give independent
/// sequences; `epoch` may be any 32-bit count (a step, a node) and `sample` must be below 2^56.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t epoch = 0, std::uint64_t sample = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, epoch, static_cast<std::uint32_t>(sample),
                 static_cast<std::uint32_t>(sample >> 32) | static_cast<std::uint32_t>(purpose) << 24} {}

  constexpr std::uint32_t next() {
    if (used_ == 4) {
      block_ = philox4x32_10(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[static_cast<std::size_t>(used_++)];
  }

  constexpr std::uint64_t next64() {
    const std::uint64_t high = next();
    return high << 32 | next();
  }

  /// Uniform in [0, 1).
  constexpr float uniform() { return to_unit_float(next()); }

  /// Uniform from low to high (rounding may give high itself).
  constexpr float uniform(float low, float high) { return low + (high - low) * uniform(); }

  /// True with the given probability.
  constexpr bool chance(float probability) { return uniform() < probability; }

  /// A whole number in [0, bound), exactly uniform: Lemire's multiplication with rejection ("Fast random integer
  /// generation in an interval", 2019). `bound` must be positive.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    while (true) {
      const auto product = static_cast<unsigned __int128>(next64()) * bound;
      if (static_cast<std::uint64_t>(product) >= rejected) return static_cast<std::uint64_t>(product >> 64);
    }
  }

  /// Standard normal, by the Box-Muller formula.
  float normal() {
    const double radius = std::sqrt(-2.0 * std::log((next() + 0.5) * 0x1p-32));
    return static_cast<float>(radius * std::cos(6.283185307179586 * ((next() + 0.5) * 0x1p-32)));
  }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  int used_ = 4;
};

}  // namespace ort_train
