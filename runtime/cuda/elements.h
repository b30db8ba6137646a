#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "base/data_type.h"
#include "base/dispatch.h"

// Elements of arrays in kernels of our own: 16-bit floats are computed with in float32 and rounded once, when stored.
namespace ort_train::runtime::cuda {

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The type in which elements of type T are computed with.
template <typename T>
using Computed = std::conditional_t<is_half<T>, float, T>;

template <typename T>
__host__ __device__ inline Computed<T> loaded(const T& element) {
  if constexpr (std::is_same_v<T, Float16>) {
    return __half2float(__ushort_as_half(element.bits));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return __bfloat162float(__ushort_as_bfloat16(element.bits));
  } else {
    return element;
  }
}

/// The number as an element, rounded to the nearest.
template <typename T, typename Number>
__host__ __device__ inline T stored(Number number) {
  if constexpr (std::is_same_v<T, Float16>) {
    Float16 element;
    element.bits = __half_as_ushort(__float2half_rn(static_cast<float>(number)));
    return element;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    BFloat16 element;
    element.bits = __bfloat16_as_ushort(__float2bfloat16_rn(static_cast<float>(number)));
    return element;
  } else {
    return static_cast<T>(number);
  }
}

// Families of element types, for which a kernel is compiled: whether a type is one of them, and base/dispatch.h for it.

struct FloatingTypes {
  static bool contain(DataType type) { return is_floating_point(type); }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    return dispatch_any_floating(type, function);
  }
};

/// float32 and float64.
struct TrainingTypes {
  static bool contain(DataType type) { return type == DataType::float32 || type == DataType::float64; }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    return dispatch_floating(type, function);
  }
};

/// The signed integers of 32 and 64 bits; the host computes with the rest, which graphs that are trained hardly have.
struct IntegerTypes {
  static bool contain(DataType type) { return type == DataType::int32 || type == DataType::int64; }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    return type == DataType::int32 ? function(TypeTag<std::int32_t>{}) : function(TypeTag<std::int64_t>{});
  }
};

struct NumericTypes {
  static bool contain(DataType type) { return IntegerTypes::contain(type) || FloatingTypes::contain(type); }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    return IntegerTypes::contain(type) ? IntegerTypes::dispatch(type, function)
                                       : FloatingTypes::dispatch(type, function);
  }
};

/// Numbers and bool.
struct AllTypes {
  static bool contain(DataType type) { return NumericTypes::contain(type) || type == DataType::boolean; }
  template <typename Function>
  static decltype(auto) dispatch(DataType type, Function&& function) {
    return type == DataType::boolean ? function(TypeTag<bool>{}) : NumericTypes::dispatch(type, function);
  }
};

struct BooleanType {
  static bool contain(DataType type) { return type == DataType::boolean; }
  template <typename Function>
  static decltype(auto) dispatch(DataType, Function&& function) {
    return function(TypeTag<bool>{});
  }
};

}  // namespace ort_train::runtime::cuda
