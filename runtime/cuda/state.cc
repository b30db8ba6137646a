#include "runtime/cuda/state.h"

#include "runtime/cuda/memory.h"
#include "runtime/cuda/reorder.h"
#include "runtime/cuda/watch.h"

namespace ort_train::runtime::cuda {

Tensor read_array(const Context& context, const Format& format, const std::byte* memory) {
  context.activate();
  Tensor stored(format.dtype(), format.dims());
  copy(stored.raw(), memory, stored.bytes(), context.compute);
  context.watch->wait(context.compute);
  return reordered(stored, format, Format::plain(stored));
}

void write_array(const Context& context, const Tensor& elements, const Format& format, std::byte* memory) {
  context.activate();
  const Tensor stored = reordered(elements, Format::plain(elements), format);
  copy(memory, stored.raw(), stored.bytes(), context.compute);
  context.watch->wait(context.compute);
}

const CudaState::Array& CudaState::at(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) fail("there is no state '", name, "'; a graph that uses it must be compiled first");
  return found->second;
}

Tensor CudaState::get(const std::string& name) const {
  const Array& array = at(name);
  return read_array(*context_, array.format, array.memory.get());
}

void CudaState::set(const std::string& name, const Tensor& elements) {
  const Array& array = at(name);
  if (elements.dtype() != array.format.dtype() || elements.dims() != array.format.dims()) {
    fail("the state '", name, "' is ", name_of(array.format.dtype()), ort_train::to_string(array.format.dims()),
         " and cannot take ", name_of(elements.dtype()), ort_train::to_string(elements.dims()));
  }
  write_array(*context_, elements, array.format, array.memory.get());
}

void CudaState::add(const std::string& name, graph::Role role, const Format& format, const Tensor& elements) {
  context_->activate();
  if (!arrays_.emplace(name, Array{role, format, allocate_on_device(format.bytes(), "the state '" + name + "'")})
           .second) {
    fail("the state '", name, "' exists already");
  }
  order_.push_back(name);
  set(name, elements);
}

}  // namespace ort_train::runtime::cuda
