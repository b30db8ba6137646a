#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/cuda/kernel.h"
#include "runtime/cuda/launch.h"

namespace ort_train::runtime::cuda {

/// A kernel made of launches of our own. Factories set its formats and what `run` puts on the compute stream.
class LaunchedKernel : public Kernel {
 public:
  using Launches = std::function<void(const LaunchedKernel&)>;

  /// Row-major to begin with.
  explicit LaunchedKernel(const Request& request)
      : stream_(request.context.compute), operation_(request.node.op_type()) {
    name = "own";
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
  }

  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override { launches(*this); }

  /// Whole arrays; null with a count of 0 where one is left out.
  template <typename T>
  In<T> in(std::size_t index) const {
    const T* elements = pointers_.input<T>(index);
    return {elements, elements == nullptr ? 0 : inputs[index].size()};
  }
  template <typename T>
  Out<T> out(std::size_t index) const {
    T* elements = pointers_.output<T>(index);
    return {elements, elements == nullptr ? 0 : outputs[index].size()};
  }
  /// Elements of the scratchpad from byte `offset` on; nothing is left of them when the kernel has run.
  template <typename T>
  Out<T> scratch(std::int64_t count, std::size_t offset = 0) const {
    return {reinterpret_cast<T*>(pointers_.scratchpad + offset), count};
  }

  template <typename Function>
  void for_each(std::int64_t count, const Function& function) const {
    cuda::for_each(stream_, operation_.c_str(), count, function);
  }
  template <typename Function>
  void for_rows(std::int64_t rows, const Function& function) const {
    cuda::for_rows(stream_, operation_.c_str(), rows, function);
  }
  template <typename Function>
  void for_rows_of(std::int64_t rows, std::int64_t length, const Function& function) const {
    cuda::for_rows_of(stream_, operation_.c_str(), rows, length, function);
  }

  Launches launches;

 private:
  cudaStream_t stream_;
  std::string operation_;
  Pointers pointers_;
};

}  // namespace ort_train::runtime::cuda
