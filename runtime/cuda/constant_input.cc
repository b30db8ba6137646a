#include "runtime/cuda/constant_input.h"

namespace ort_train::runtime::cuda {

std::optional<std::vector<std::int64_t>> constant_integers(const Request& request, std::size_t index,
                                                           std::vector<std::int64_t> fallback) {
  const graph::Value* value = request.node.input(static_cast<int>(index));
  if (value == nullptr) return fallback;
  if (!value->is_constant() || !value->is_initializer()) return std::nullopt;
  return value->initial().to_int64s();
}

}  // namespace ort_train::runtime::cuda
