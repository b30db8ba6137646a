#include "base/data_type.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace ort_train {

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::boolean: return 1;
    case DataType::int16:
    case DataType::uint16:
    case DataType::float16:
    case DataType::bfloat16: return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32: return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64: return 8;
    case DataType::string:
    case DataType::undefined: break;
  }
  fail("elements of type ", name_of(type), " have no fixed size");
}

std::string name_of(DataType type) {
  switch (type) {
    case DataType::undefined: return "undefined";
    case DataType::float32: return "float32";
    case DataType::uint8: return "uint8";
    case DataType::int8: return "int8";
    case DataType::uint16: return "uint16";
    case DataType::int16: return "int16";
    case DataType::int32: return "int32";
    case DataType::int64: return "int64";
    case DataType::string: return "string";
    case DataType::boolean: return "bool";
    case DataType::float16: return "float16";
    case DataType::float64: return "float64";
    case DataType::uint32: return "uint32";
    case DataType::uint64: return "uint64";
    case DataType::bfloat16: return "bfloat16";
  }
  return text("data type ", static_cast<int>(type));
}

bool is_floating_point(DataType type) {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::float16 ||
         type == DataType::bfloat16;
}

bool is_integer(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::int16:
    case DataType::int32:
    case DataType::int64:
    case DataType::uint8:
    case DataType::uint16:
    case DataType::uint32:
    case DataType::uint64: return true;
    default: return false;
  }
}

// Round to nearest even, IEEE 754 binary16.
Float16::Float16(float value) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 16) & 0x8000u;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);
  } else if (magnitude >= 65520.0f) {
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 6.103515625e-05f) {  // subnormal: units of 2^-24
    bits = static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(magnitude * 16777216.0f)));
  } else {
    std::uint32_t rounded = (word & 0x7fffffffu) + 0x0fffu + ((word >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
}

Float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) / 16777216.0f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23;
  return std::bit_cast<float>(sign | widened | (mantissa << 13));
}

// Round to nearest even on the upper half of the binary32 word.
BFloat16::BFloat16(float value) {
  std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    bits = static_cast<std::uint16_t>((word >> 16) | 0x40u);
    return;
  }
  word += 0x7fffu + ((word >> 16) & 1u);
  bits = static_cast<std::uint16_t>(word >> 16);
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace ort_train
