#pragma once

#include "base/dispatch.h"

namespace ort_train::runtime::cuda {

/// Calls `function(TypeTag<Word>{})` with the unsigned number of the size of an element: where elements only move, it
/// is all that matters of their type.
template <typename Function>
decltype(auto) dispatch_words(std::size_t bytes, Function&& function) {
  switch (bytes) {
    case 1: return function(TypeTag<std::uint8_t>{});
    case 2: return function(TypeTag<std::uint16_t>{});
    case 4: return function(TypeTag<std::uint32_t>{});
    default: return function(TypeTag<std::uint64_t>{});
  }
}
template <typename Function>
decltype(auto) dispatch_words(DataType type, Function&& function) {
  return dispatch_words(size_of(type), function);
}

}  // namespace ort_train::runtime::cuda
