#pragma once

#include "runtime/cuda/kernel.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/reorder.h"
#include "runtime/cuda/state.h"
#include "runtime/planning/backend.h"

namespace ort_train::runtime::cuda {

/// A GPU as planning sees it.
struct Backend {
  using Format = cuda::Format;
  using Context = cuda::Context;
  using State = CudaState;

  static constexpr const char* device_name = "GPU";

  static bool has_kernel(const graph::Node& node) { return cuda::has_kernel(node); }
  static std::unique_ptr<Kernel> make_kernel(const Request& request, bool host_only) {
    return cuda::make_kernel(request, host_only);
  }
  static bool can_reorder(const Format&, const Format&) { return true; }
  static std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to) {
    return cuda::make_reorder(context, from, to);
  }
  static bool connects_replicas(const Context& context) { return context.communicator != nullptr; }
  static std::shared_ptr<std::byte> allocate(const Context&, std::size_t bytes) {
    return allocate_on_device(bytes, "the arrays of a step");
  }
  static void write(const Context& context, const Tensor& elements, const Format& format, std::byte* memory) {
    write_array(context, elements, format, memory);
  }
};

}  // namespace ort_train::runtime::cuda
