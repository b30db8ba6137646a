#pragma once

#include <algorithm>
#include <cstdint>

namespace ort_train {

/// Consecutive rows of a batch.
struct Shard {
  std::int64_t first = 0, rows = 0;
  bool operator==(const Shard&) const = default;
};

/// Part `index` of `rows` rows that `parts` share as evenly as they can: the first ones get one row more where the
/// division leaves a remainder, and some get none when there are fewer rows than parts.
constexpr Shard shard_of(std::int64_t rows, std::int64_t parts, std::int64_t index) {
  const std::int64_t each = rows / parts, rest = rows % parts;
  return {index * each + std::min(index, rest), each + (index < rest ? 1 : 0)};
}

}  // namespace ort_train
