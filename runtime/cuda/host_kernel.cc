#include "runtime/cuda/host_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "runtime/cuda/memory.h"
#include "runtime/memory_plan.h"

namespace ort_train::runtime::cuda {

namespace {

class HostKernel : public Kernel {
 public:
  HostKernel(const Request& request, kernels::Kernel function)
      : context_(request.context), invocation_{request.node, {}, {}}, function_(function) {
    name = "host";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
    std::vector<std::size_t> bytes;
    for (const auto* formats : {&inputs, &outputs}) {
      for (const Format& format : *formats) bytes.push_back(format.bytes());
    }
    layout_ = lay_out_bucket(bytes);
    context_.host_scratch->reserve(layout_.bytes);
    error_word_ = context_.host_scratch->add_error_word([this](std::int64_t) { return error_; });
  }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }

  void run() override {
    if (invocation_.inputs.size() != inputs.size()) bind_host_arrays();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined()) copy(host(i), pointers_.inputs[i], inputs[i].bytes(), context_.compute);
    }
    check(cudaLaunchHostFunc(context_.compute, call, this), "run a kernel on the host");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].defined()) {
        copy(pointers_.outputs[i], host(inputs.size() + i), outputs[i].bytes(), context_.compute);
      }
    }
  }

 private:
  std::byte* host(std::size_t index) const { return context_.host_scratch->memory() + layout_.offsets[index]; }

  // The scratch memory comes after all kernels have said how much they need.
  void bind_host_arrays() {
    for (std::size_t i = 0; i < inputs.size(); ++i) invocation_.inputs.push_back(view(inputs[i], host(i)));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      invocation_.outputs.push_back(view(outputs[i], host(inputs.size() + i)));
    }
  }

  static Tensor view(const Format& format, std::byte* memory) {
    return format.defined() ? Tensor::view(format.dtype(), format.dims(), memory) : Tensor();
  }

  static void CUDART_CB call(void* kernel) { static_cast<HostKernel*>(kernel)->compute(); }

  // No exception may pass through CUDA.
  void compute() noexcept {
    try {
      function_(invocation_);
    } catch (const std::exception& error) {
      error_ = text(describe(invocation_.node), ": ", error.what());
      *context_.host_scratch->error_word(error_word_) = HostScratch::no_error + 1;
    }
  }

  const Context& context_;
  kernels::Invocation invocation_;
  kernels::Kernel function_;
  Bucket layout_;
  Pointers pointers_;
  std::size_t error_word_ = 0;
  std::string error_;
};

}  // namespace

void HostScratch::reserve(std::size_t bytes) { bytes_ = std::max(bytes_, bytes); }

void HostScratch::allocate() {
  memory_ = allocate_pinned(bytes_);
  words_ = allocate_pinned(sentences_.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < sentences_.size(); ++i) *error_word(i) = no_error;
}

std::size_t HostScratch::add_error_word(Sentence sentence) {
  sentences_.push_back(std::move(sentence));
  return sentences_.size() - 1;
}

std::int64_t* HostScratch::error_word(std::size_t number) const {
  return reinterpret_cast<std::int64_t*>(words_.get()) + number;
}

void HostScratch::rethrow_error() {
  std::string error;
  for (std::size_t i = 0; words_ != nullptr && i < sentences_.size(); ++i) {
    const std::int64_t written = std::exchange(*error_word(i), no_error);
    if (written != no_error && error.empty()) error = sentences_[i](written);
  }
  if (!error.empty()) fail(error);
}

std::unique_ptr<Kernel> make_host_kernel(const Request& request) {
  const kernels::Kernel function = kernels::find_kernel(request.node.op_type(), request.node.domain());
  if (function == nullptr) fail(describe(request.node), ": there is no kernel for this operator");
  return std::make_unique<HostKernel>(request, function);
}

}  // namespace ort_train::runtime::cuda
