#include "kernels/strided.h"

#include <cstring>

namespace ort_train::kernels {

namespace {

// Elements only move, so that their size is all that matters of their type.
template <typename Word>
void copy_rows(const Dims& dims, const std::byte* source_bytes, const Dims& source_strides, std::byte* target_bytes,
               const Dims& target_strides) {
  const auto* source = reinterpret_cast<const Word*>(source_bytes);
  auto* target = reinterpret_cast<Word*>(target_bytes);
  if (dims.empty()) {
    *target = *source;
    return;
  }
  const std::int64_t length = dims.back();
  const std::int64_t source_step = source_strides.back();
  const std::int64_t target_step = target_strides.back();
  const Dims outer(dims.begin(), dims.end() - 1);
  Dims index(outer.size(), 0);
  do {
    const Word* from = source + offset_of(index, source_strides);
    Word* to = target + offset_of(index, target_strides);
    if (source_step == 1 && target_step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(length) * sizeof(Word));
    } else {
      for (std::int64_t i = 0; i < length; ++i) to[i * target_step] = from[i * source_step];
    }
  } while (advance(index, outer));
}

}  // namespace

void copy_strided(const Dims& dims, const std::byte* source, const Dims& source_strides, std::byte* target,
                  const Dims& target_strides, std::size_t element_size) {
  if (element_count(dims) == 0) return;
  switch (element_size) {
    case 1: return copy_rows<std::uint8_t>(dims, source, source_strides, target, target_strides);
    case 2: return copy_rows<std::uint16_t>(dims, source, source_strides, target, target_strides);
    case 4: return copy_rows<std::uint32_t>(dims, source, source_strides, target, target_strides);
    case 8: return copy_rows<std::uint64_t>(dims, source, source_strides, target, target_strides);
    default: fail("elements of ", element_size, " bytes cannot be moved");
  }
}

void gather_strided(const Dims& dims, const std::byte* source, const Dims& source_strides, std::byte* target,
                    std::size_t element_size) {
  copy_strided(dims, source, source_strides, target, row_major_strides(dims), element_size);
}

bool advance(Dims& index, const Dims& dims) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (++index[axis] < dims[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

std::int64_t offset_of(const Dims& index, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

}  // namespace ort_train::kernels
