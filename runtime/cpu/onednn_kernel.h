#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// Attributes of a primitive whose scratchpad is part of the memory plan.
dnnl::primitive_attr scratchpad_by_user();

/// oneDNN's own reference code, or another implementation that is not worth a layout change.
bool is_slow_implementation(const dnnl::primitive_desc_base& primitive);

/// One call of a oneDNN primitive. Which argument lies in which input or output of the node is said once, by `reads`
/// and `writes`; a run is one library call with a list of arguments made by `bind`.
class OnednnKernel : public Kernel {
 public:
  OnednnKernel(const Context& context, dnnl::primitive primitive, const std::string& implementation);

  void reads(int argument, const dnnl::memory::desc& desc, int input) {
    arguments_.push_back({argument, desc, Place::input, input});
  }
  void writes(int argument, const dnnl::memory::desc& desc, int output) {
    arguments_.push_back({argument, desc, Place::output, output});
  }
  void uses_scratchpad(const dnnl::memory::desc& desc);

  void bind(const Pointers& pointers) override;
  void run() override;

 private:
  enum class Place { input, output, scratchpad };
  struct Argument {
    int argument;
    dnnl::memory::desc desc;
    Place place;
    int index;
  };

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> call_;
};

}  // namespace ort_train::runtime::cpu
