#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ort_train {

/// Element types; the numbers are those of onnx::TensorProto_DataType.
enum class DataType : int {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
};

/// Bytes of one element; throws for `undefined` and `string`, which have no fixed size.
std::size_t size_of(DataType type);

/// The name a user knows: "float32", "int64", "bool", ...
std::string name_of(DataType type);

/// float16, bfloat16, float32 and float64: what a gradient can have.
bool is_floating_point(DataType type);

/// Signed and unsigned integers; bool is not one.
bool is_integer(DataType type);

/// 16-bit floats are stored as their bits; arithmetic is done in float32.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

/// The DataType of a C++ type.
template <typename T>
constexpr DataType data_type_of();
template <>
constexpr DataType data_type_of<float>() {
  return DataType::float32;
}
template <>
constexpr DataType data_type_of<double>() {
  return DataType::float64;
}
template <>
constexpr DataType data_type_of<Float16>() {
  return DataType::float16;
}
template <>
constexpr DataType data_type_of<BFloat16>() {
  return DataType::bfloat16;
}
template <>
constexpr DataType data_type_of<std::int8_t>() {
  return DataType::int8;
}
template <>
constexpr DataType data_type_of<std::int16_t>() {
  return DataType::int16;
}
template <>
constexpr DataType data_type_of<std::int32_t>() {
  return DataType::int32;
}
template <>
constexpr DataType data_type_of<std::int64_t>() {
  return DataType::int64;
}
template <>
constexpr DataType data_type_of<std::uint8_t>() {
  return DataType::uint8;
}
template <>
constexpr DataType data_type_of<std::uint16_t>() {
  return DataType::uint16;
}
template <>
constexpr DataType data_type_of<std::uint32_t>() {
  return DataType::uint32;
}
template <>
constexpr DataType data_type_of<std::uint64_t>() {
  return DataType::uint64;
}
template <>
constexpr DataType data_type_of<bool>() {
  return DataType::boolean;
}

}  // namespace ort_train
