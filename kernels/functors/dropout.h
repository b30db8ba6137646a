#pragma once

#include <cstdint>

#include "base/random.h"
#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// The random numbers of one Dropout of a graph in one step: a function of (seed, stream, step, sample, element), so
/// that neither threads nor replicas change a mask. The Philox key of (seed, stream) is itself a Philox block, which
/// keeps the streams of nearby seeds apart; the counter holds element / 4, step and sample as in RandomStream.
class DropoutNumbers {
 public:
  /// Steps are taken modulo 2^32, samples must be below 2^56.
  ORT_TRAIN_HOST_DEVICE DropoutNumbers(std::uint64_t seed, std::uint64_t stream, std::uint64_t step)
      : step_(static_cast<std::uint32_t>(step)) {
    const PhiloxCounter block =
        philox4x32_10({static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32), 0, purpose},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {block[0], block[1]};
  }

  /// Four words, for elements 4 * block to 4 * block + 3 of the sample.
  ORT_TRAIN_HOST_DEVICE PhiloxCounter words(std::uint64_t sample, std::uint32_t block) const {
    return philox4x32_10(
        {block, step_, static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32) | purpose}, key_);
  }

 private:
  static constexpr std::uint32_t purpose = static_cast<std::uint32_t>(RandomPurpose::dropout) << 24;

  std::uint32_t step_;
  PhiloxKey key_{};
};

}  // namespace ort_train::kernels::functors
