#pragma once

#include <cstdint>
#include <type_traits>

/// On a function that holds a hot loop: the compiler makes one copy for each instruction set level, and the program
/// takes the best one that the processor has. Loops must not be inside an OpenMP region of the same function.
/// With ThreadSanitizer there is one copy: GCC instruments the code that chooses, and that runs too early for it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define ORT_TRAIN_VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ORT_TRAIN_VECTORIZED
#endif

namespace ort_train::runtime::cpu {

/// Neighbouring floats that are computed together; `Lanes<1>` is a plain float. Comparisons give masks, and
/// `mask ? a : b` selects lane by lane.
template <int count>
struct LanesOf {
  typedef float type __attribute__((vector_size(count * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef std::int32_t bits __attribute__((vector_size(count * sizeof(float)), aligned(sizeof(float)), may_alias));
};
template <>
struct LanesOf<1> {
  typedef float type;
  typedef std::int32_t bits __attribute__((may_alias));
};
template <int count>
using Lanes = typename LanesOf<count>::type;
template <int count>
using BitLanes = typename LanesOf<count>::bits;

template <int count>
inline const Lanes<count>& lanes(const float* memory) {
  return *reinterpret_cast<const Lanes<count>*>(memory);
}
template <int count>
inline Lanes<count>& lanes(float* memory) {
  return *reinterpret_cast<Lanes<count>*>(memory);
}

/// The same floats as bit patterns, to be compared exactly.
template <int count>
inline const BitLanes<count>& bits(const float* memory) {
  return *reinterpret_cast<const BitLanes<count>*>(memory);
}

/// Calls `function` with the block size as a compile-time constant: 16, 8, or 1 for anything else.
template <typename Function>
void with_block(std::int64_t block, const Function& function) {
  switch (block) {
    case 16: return function(std::integral_constant<int, 16>{});
    case 8: return function(std::integral_constant<int, 8>{});
    default: return function(std::integral_constant<int, 1>{});
  }
}

}  // namespace ort_train::runtime::cpu
