#pragma once

#include <cstdint>

namespace ort_train::passes {

/// How a batch is divided among replicas, and what one of them does.
struct Replication {
  /// BatchNormalization over a batch that is divided.
  enum class Statistics {
    local,         ///< each replica (and micro-batch) normalizes by its own rows; running statistics are averaged
    synchronized,  ///< statistics of the whole batch, forward and backward, as one replica would have them
  };

  int replicas = 1;
  int rank = 0;
  /// A replica works through its rows in this many micro-batches, one after the other, and updates once.
  std::int64_t accumulate = 1;
  Statistics statistics = Statistics::local;
  /// Every replica keeps and updates only its part of the optimizer's slots.
  bool shard_optimizer = false;
  /// Values to reduce are joined until a bucket has this many bytes; 0: each on its own.
  std::int64_t bucket_bytes = std::int64_t{8} << 20;

  bool divides() const { return replicas > 1 || accumulate > 1; }
};

}  // namespace ort_train::passes
