#include "graph/type.h"

#include <algorithm>

namespace ort_train::graph {

Type::Type(DataType element, const Dims& dims) : dtype(element), shape(Shape(dims.begin(), dims.end())) {}

bool Type::is_static() const {
  return shape.has_value() &&
         std::all_of(shape->begin(), shape->end(), [](const Dimension& extent) { return extent.is_known(); });
}

std::string to_string(const Type& type) {
  std::string out = name_of(type.dtype);
  if (!type.shape) return out + "[...]";
  out += "[";
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    const Dimension& extent = (*type.shape)[i];
    if (i != 0) out += ",";
    out += extent.is_known() ? std::to_string(extent.value()) : extent.is_symbol() ? extent.symbol() : "?";
  }
  return out + "]";
}

}  // namespace ort_train::graph
