#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/tensor.h"
#include "runtime/planning/program.h"

namespace ort_train::runtime::planning {

/// Throws an Error that lists the names there are. `kind` is "input" or "output".
inline int array_by_name(const std::map<std::string, int>& arrays, const std::string& name, std::string_view kind) {
  const auto found = arrays.find(name);
  if (found != arrays.end()) return found->second;
  std::string names;
  for (const auto& [known, index] : arrays) names += (names.empty() ? "'" : ", '") + known + "'";
  fail("the graph has no ", kind, " '", name, "'; its ", kind, "s are ", names.empty() ? "none" : names);
}

/// Throws when the input `name` cannot take these elements.
template <typename Format>
void check_elements(const std::string& name, const Format& format, const Tensor& elements) {
  if (elements.dtype() == format.dtype() && elements.dims() == format.dims()) return;
  fail("the input '", name, "' is ", name_of(format.dtype()), ort_train::to_string(format.dims()), " and cannot take ",
       name_of(elements.dtype()), ort_train::to_string(elements.dims()));
}

}  // namespace ort_train::runtime::planning
