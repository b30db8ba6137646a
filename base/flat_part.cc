#include "base/flat_part.h"

#include <algorithm>
#include <cstring>

namespace ort_train {

void copy_flat_part(const Tensor& whole, std::int64_t parts, std::int64_t index, std::byte* part) {
  const std::int64_t length = flat_part_size(whole.size(), parts);
  const std::int64_t first = std::min(whole.size(), index * length);
  const std::int64_t present = std::min(length, whole.size() - first);
  const std::size_t width = size_of(whole.dtype());
  const auto bytes_of = [width](std::int64_t elements) { return static_cast<std::size_t>(elements) * width; };
  if (length == 0) return;
  std::memcpy(part, whole.raw() + bytes_of(first), bytes_of(present));
  std::memset(part + bytes_of(present), 0, bytes_of(length - present));
}

Tensor flat_part(const Tensor& whole, std::int64_t parts, std::int64_t index) {
  Tensor part(whole.dtype(), {flat_part_size(whole.size(), parts)});
  copy_flat_part(whole, parts, index, part.raw());
  return part;
}

}  // namespace ort_train
