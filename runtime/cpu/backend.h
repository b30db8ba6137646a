#pragma once

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/reorder.h"
#include "runtime/cpu/state.h"
#include "runtime/planning/backend.h"

namespace ort_train::runtime::cpu {

/// The CPU as planning sees it.
struct Backend {
  using Format = cpu::Format;
  using Context = cpu::Context;
  using State = CpuState;

  static constexpr const char* device_name = "CPU";

  static bool has_kernel(const graph::Node& node) { return cpu::has_kernel(node); }
  static std::unique_ptr<Kernel> make_kernel(const Request& request, bool plain_only) {
    return cpu::make_kernel(request, plain_only);
  }
  static bool can_reorder(const Format& from, const Format& to) { return cpu::can_reorder(from, to); }
  static std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to) {
    return cpu::make_reorder(context, from, to);
  }
  static bool connects_replicas(const Context& context) { return context.collective != nullptr; }
  static std::shared_ptr<std::byte> allocate(const Context&, std::size_t bytes) { return cpu::allocate(bytes); }
  static void write(const Context&, const Tensor& elements, const Format& format, std::byte* memory) {
    convert(Format::plain(elements), elements.raw(), format, memory);
  }
};

}  // namespace ort_train::runtime::cpu
