#include "runtime/data/convert.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/dispatch.h"
#include "base/error.h"

namespace ort_train::data {

namespace {

template <typename T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <typename T>
constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename From, typename To>
To convert(From value) {
  if constexpr (is_half<From>) {
    return convert<float, To>(static_cast<float>(value));
  } else if constexpr (is_half<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (is_whole<From> && is_whole<To>) {
    if (!std::in_range<To>(value)) {
      fail("the number ", +value, " does not fit into ", name_of(data_type_of<To>()));
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

bool is_convertible(DataType from, DataType to) {
  if (from == to) return from != DataType::undefined && from != DataType::string;
  const bool from_whole = is_integer(from) || from == DataType::boolean;
  return is_floating_point(to) ? from_whole || is_floating_point(from) : from_whole && is_integer(to);
}

void convert_elements(DataType from, const std::byte* source, DataType to, std::byte* target, std::int64_t count) {
  if (!is_convertible(from, to)) fail("elements of type ", name_of(from), " cannot stand for ", name_of(to));
  if (from == to) {
    if (count > 0) std::memcpy(target, source, static_cast<std::size_t>(count) * size_of(from));
    return;
  }
  dispatch(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    dispatch(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const auto* in = reinterpret_cast<const From*>(source);
      auto* out = reinterpret_cast<To*>(target);
      for (std::int64_t i = 0; i < count; ++i) out[i] = convert<From, To>(in[i]);
    });
  });
}

}  // namespace ort_train::data
