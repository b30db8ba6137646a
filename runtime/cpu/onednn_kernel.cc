#include "runtime/cpu/onednn_kernel.h"

#include <algorithm>

namespace ort_train::runtime::cpu {

dnnl::primitive_attr scratchpad_by_user() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

bool is_slow_implementation(const dnnl::primitive_desc_base& primitive) {
  return std::string(primitive.impl_info_str()).find("ref") != std::string::npos;
}

OnednnKernel::OnednnKernel(const Context& context, dnnl::primitive primitive, const std::string& implementation)
    : engine_(context.engine), stream_(context.stream), primitive_(std::move(primitive)) {
  name = "onednn " + implementation;
}

void OnednnKernel::uses_scratchpad(const dnnl::memory::desc& desc) {
  scratchpad_bytes = std::max(scratchpad_bytes, desc.get_size());
  if (desc.get_size() > 0) arguments_.push_back({DNNL_ARG_SCRATCHPAD, desc, Place::scratchpad, 0});
}

void OnednnKernel::bind(const Pointers& pointers) {
  for (const Argument& argument : arguments_) {
    std::byte* memory = pointers.scratchpad;
    if (argument.place == Place::input) memory = pointers.inputs.at(static_cast<std::size_t>(argument.index));
    if (argument.place == Place::output) memory = pointers.outputs.at(static_cast<std::size_t>(argument.index));
    memories_.emplace_back(argument.desc, engine_, memory);
  }
  for (std::size_t i = 0; i < arguments_.size(); ++i) call_.push_back({arguments_[i].argument, memories_[i].get()});
}

void OnednnKernel::run() {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(call_.size()), call_.data());
  if (status != dnnl_success) fail("oneDNN could not run '", name, "' (status ", static_cast<int>(status), ")");
}

}  // namespace ort_train::runtime::cpu
