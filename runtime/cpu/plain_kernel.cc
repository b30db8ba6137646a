#include "runtime/cpu/plain_kernel.h"

#include "kernels/kernel.h"

namespace ort_train::runtime::cpu {

namespace {

Tensor view_of(const Format& format, std::byte* memory) {
  return format.defined() ? Tensor::view(format.dtype(), format.dims(), memory) : Tensor();
}

class PlainKernel : public Kernel {
 public:
  PlainKernel(const graph::Node& node, kernels::Kernel function) : invocation_{node, {}, {}}, function_(function) {
    name = "plain";
  }

  void bind(const Pointers& pointers) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      invocation_.inputs.push_back(view_of(inputs[i], pointers.inputs[i]));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      invocation_.outputs.push_back(view_of(outputs[i], pointers.outputs[i]));
    }
  }

  void run() override { function_(invocation_); }

 private:
  kernels::Invocation invocation_;
  kernels::Kernel function_;
};

}  // namespace

std::unique_ptr<Kernel> make_plain_kernel(const Request& request) {
  const kernels::Kernel function = kernels::find_kernel(request.node.op_type(), request.node.domain());
  if (function == nullptr) fail(describe(request.node), ": there is no CPU kernel for this operator");
  auto kernel = std::make_unique<PlainKernel>(request.node, function);
  kernel->inputs = request.plain_inputs();
  kernel->outputs = request.plain_outputs();
  return kernel;
}

}  // namespace ort_train::runtime::cpu
