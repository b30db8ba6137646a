#include "graph/constant_elements.h"

#include <variant>

namespace ort_train::graph {

const Tensor* constant_elements(const Value* value) {
  if (value == nullptr) return nullptr;
  if (value->is_constant()) return &value->initial();
  if (value->producer() == nullptr || !value->producer()->is("Constant")) return nullptr;
  const Attributes& attributes = value->producer()->attributes();
  const auto elements = attributes.find("value");
  return elements == attributes.end() ? nullptr : std::get_if<Tensor>(&elements->second);
}

}  // namespace ort_train::graph
