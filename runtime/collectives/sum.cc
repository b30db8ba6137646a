#include "runtime/collectives/sum.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace ort_train::runtime {

namespace {

/// Few enough that the sums of a block stay in the first-level cache.
constexpr std::size_t block = 2048;

template <typename T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<Float16> {
  using type = float;
};
template <>
struct Accumulator<BFloat16> {
  using type = float;
};
// Unsigned, because the overflow of signed integers is undefined.
template <>
struct Accumulator<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct Accumulator<std::int64_t> {
  using type = std::uint64_t;
};

template <typename From, typename To>
void add_typed(std::span<const void* const> operands, std::span<void* const> results, std::size_t count) {
  using Sum = typename Accumulator<From>::type;
  Sum sums[block];
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t length = std::min(block, count - first);
    const From* operand = static_cast<const From*>(operands[0]) + first;
    for (std::size_t i = 0; i < length; ++i) sums[i] = static_cast<Sum>(operand[i]);
    for (const void* next : operands.subspan(1)) {
      operand = static_cast<const From*>(next) + first;
      for (std::size_t i = 0; i < length; ++i) sums[i] += static_cast<Sum>(operand[i]);
    }
    To* result = static_cast<To*>(results[0]) + first;
    for (std::size_t i = 0; i < length; ++i) result[i] = static_cast<To>(sums[i]);
    for (void* next : results.subspan(1)) std::memcpy(static_cast<To*>(next) + first, result, length * sizeof(To));
  }
}

template <typename To>
void add_into(DataType from, std::span<const void* const> operands, std::span<void* const> results, std::size_t count) {
  if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    if (from == DataType::float32) return add_typed<float, To>(operands, results, count);
  }
  if constexpr (std::is_same_v<To, float>) {
    if (from == DataType::float16) return add_typed<Float16, To>(operands, results, count);
    if (from == DataType::bfloat16) return add_typed<BFloat16, To>(operands, results, count);
  }
  add_typed<To, To>(operands, results, count);
}

}  // namespace

bool has_sum(DataType dtype) {
  return is_floating_point(dtype) || dtype == DataType::int64 || dtype == DataType::int32;
}

DataType sum_type(DataType dtype) {
  return dtype == DataType::float16 || dtype == DataType::bfloat16 ? DataType::float32 : dtype;
}

void add_in_order(DataType from, std::span<const void* const> operands, DataType to, std::span<void* const> results,
                  std::size_t count) {
  if (from != to && from != sum_type(to) && sum_type(from) != to) {
    fail("no sum of ", name_of(from), " elements gives ", name_of(to));
  }
  switch (to) {
    case DataType::float32: return add_into<float>(from, operands, results, count);
    case DataType::float64: return add_into<double>(from, operands, results, count);
    case DataType::float16: return add_into<Float16>(from, operands, results, count);
    case DataType::bfloat16: return add_into<BFloat16>(from, operands, results, count);
    case DataType::int32: return add_into<std::int32_t>(from, operands, results, count);
    case DataType::int64: return add_into<std::int64_t>(from, operands, results, count);
    default: fail("replicas cannot take the sum of ", name_of(to), " elements");
  }
}

}  // namespace ort_train::runtime
