#pragma once

#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// The random numbers of one operator of a graph in one step: a function of (seed, stream, step, row, element), so that
/// neither threads nor replicas change them. The Philox key of (seed, stream) is itself a Philox block, which keeps the
/// streams of nearby seeds apart; the counter holds the block of elements, step and row as in RandomStream.
class RandomNumbers {
 public:
  /// Steps are taken modulo 2^32, rows must be below 2^56.
  ORT_TRAIN_HOST_DEVICE RandomNumbers(RandomPurpose purpose, std::uint64_t seed, std::uint64_t stream,
                                      std::uint64_t step)
      : purpose_(static_cast<std::uint32_t>(purpose) << 24), step_(static_cast<std::uint32_t>(step)) {
    const PhiloxCounter block =
        philox4x32_10({static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32), 0, purpose_},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {block[0], block[1]};
  }

  /// The same sequences in another step.
  ORT_TRAIN_HOST_DEVICE RandomNumbers in_step(std::uint64_t step) const {
    RandomNumbers numbers = *this;
    numbers.step_ = static_cast<std::uint32_t>(step);
    return numbers;
  }

  /// Four words, for elements 4 * block to 4 * block + 3 of the row where an element takes one.
  ORT_TRAIN_HOST_DEVICE PhiloxCounter words(std::uint64_t row, std::uint32_t block) const {
    return philox4x32_10(
        {block, step_, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32) | purpose_}, key_);
  }

 private:
  std::uint32_t purpose_, step_;
  PhiloxKey key_{};
};

// Distributions: each makes one number of `words` random words.

/// Uniform from low to high, of 2^24 equally likely values (rounding may give high itself).
struct Uniform {
  static constexpr int words = 1;
  double low, high;
  ORT_TRAIN_HOST_DEVICE double operator()(const std::uint32_t* word) const {
    return low + (high - low) * static_cast<double>(to_unit_float(word[0]));
  }
};

/// By the formula of G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates" (1958).
struct Normal {
  static constexpr int words = 2;
  double mean, scale;
  ORT_TRAIN_HOST_DEVICE double operator()(const std::uint32_t* word) const {
    const double radius = std::sqrt(-2.0 * std::log((word[0] + 0.5) * 0x1p-32));
    return mean + scale * radius * std::cos(6.283185307179586 * ((word[1] + 0.5) * 0x1p-32));
  }
};

/// Standard Gumbel: where it is added to log-probabilities, the index of the largest sum is distributed by the
/// probabilities.
struct Gumbel {
  static constexpr int words = 1;
  ORT_TRAIN_HOST_DEVICE double operator()(const std::uint32_t* word) const {
    return -std::log(-std::log((word[0] + 0.5) * 0x1p-32));
  }
};

}  // namespace ort_train::kernels::functors
