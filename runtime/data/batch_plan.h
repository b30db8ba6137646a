#pragma once

#include <cstdint>
#include <vector>

namespace ort_train::data {

/// Which samples make up which batch.
struct BatchPlan {
  std::int64_t samples = 0;
  std::int64_t batch_size = 1;  ///< of the global batch, over all replicas
  bool shuffle = false;         ///< a new order every epoch
  bool drop_last = false;       ///< leave out the last batch when it is not full
  std::uint64_t seed = 0;

  std::int64_t steps_per_epoch() const;

  /// Samples in the batch of a step: `batch_size`, or what is left in the last one.
  std::int64_t size_of_batch(std::int64_t step) const;

  /// The order of all samples in an epoch, which depends on seed and epoch only. Batch `step` takes those from
  /// `step * batch_size` on.
  std::vector<std::int64_t> order(std::uint32_t epoch) const;
};

}  // namespace ort_train::data
