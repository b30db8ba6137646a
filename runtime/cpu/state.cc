#include "runtime/cpu/state.h"

#include "runtime/cpu/memory.h"
#include "runtime/cpu/reorder.h"

namespace ort_train::runtime::cpu {

std::vector<std::string> CpuState::names() const { return order_; }

const CpuState::Array& CpuState::at(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) fail("there is no state '", name, "'; a graph that uses it must be compiled first");
  return found->second;
}

Tensor CpuState::get(const std::string& name) const {
  const Array& array = at(name);
  Tensor elements(array.format.dtype(), array.format.dims());
  convert(array.format, array.memory.get(), Format::plain(elements), elements.raw());
  return elements;
}

void CpuState::set(const std::string& name, const Tensor& elements) {
  const Array& array = at(name);
  if (elements.dtype() != array.format.dtype() || elements.dims() != array.format.dims()) {
    fail("the state '", name, "' is ", name_of(array.format.dtype()), ort_train::to_string(array.format.dims()),
         " and cannot take ", name_of(elements.dtype()), ort_train::to_string(elements.dims()));
  }
  convert(Format::plain(elements), elements.raw(), array.format, array.memory.get());
}

void CpuState::add(const std::string& name, graph::Role role, const Format& format, const Tensor& elements) {
  if (!arrays_.emplace(name, Array{role, format, allocate(format.bytes())}).second) {
    fail("the state '", name, "' exists already");
  }
  order_.push_back(name);
  set(name, elements);
}

}  // namespace ort_train::runtime::cpu
