#pragma once

#include "base/data_type.h"
#include "base/error.h"

namespace ort_train {

template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls `function(TypeTag<T>{})` with the C++ type of `type`, which must be float32 or float64: the types that
/// training computes in on the CPU.
template <typename Function>
decltype(auto) dispatch_floating(DataType type, Function&& function) {
  switch (type) {
    case DataType::float32: return function(TypeTag<float>{});
    case DataType::float64: return function(TypeTag<double>{});
    default: fail("the CPU computes this operator in float32 or float64, not in ", name_of(type));
  }
}

/// The same for every floating-point type; 16-bit ones come as Float16 and BFloat16.
template <typename Function>
decltype(auto) dispatch_any_floating(DataType type, Function&& function) {
  switch (type) {
    case DataType::float32: return function(TypeTag<float>{});
    case DataType::float64: return function(TypeTag<double>{});
    case DataType::float16: return function(TypeTag<Float16>{});
    case DataType::bfloat16: return function(TypeTag<BFloat16>{});
    default: fail("this operator computes on floating-point elements, not on ", name_of(type));
  }
}

/// The same for signed and unsigned integers.
template <typename Function>
decltype(auto) dispatch_integer(DataType type, Function&& function) {
  switch (type) {
    case DataType::int8: return function(TypeTag<std::int8_t>{});
    case DataType::int16: return function(TypeTag<std::int16_t>{});
    case DataType::int32: return function(TypeTag<std::int32_t>{});
    case DataType::int64: return function(TypeTag<std::int64_t>{});
    case DataType::uint8: return function(TypeTag<std::uint8_t>{});
    case DataType::uint16: return function(TypeTag<std::uint16_t>{});
    case DataType::uint32: return function(TypeTag<std::uint32_t>{});
    case DataType::uint64: return function(TypeTag<std::uint64_t>{});
    default: fail("this operator computes on integers, not on ", name_of(type));
  }
}

/// The same for everything but bool.
template <typename Function>
decltype(auto) dispatch_numeric(DataType type, Function&& function) {
  if (is_integer(type)) return dispatch_integer(type, function);
  return dispatch_any_floating(type, function);
}

/// The same for everything that has a size: numbers and bool.
template <typename Function>
decltype(auto) dispatch(DataType type, Function&& function) {
  if (type == DataType::boolean) return function(TypeTag<bool>{});
  if (is_integer(type) || is_floating_point(type)) return dispatch_numeric(type, function);
  fail("no arithmetic on elements of type ", name_of(type));
}

}  // namespace ort_train
