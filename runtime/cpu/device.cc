#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/cores.h"
#include "runtime/cpu/executable.h"
#include "runtime/cpu/state.h"
#include "runtime/executable.h"

namespace ort_train::runtime {

namespace {

// The layout that convolutions of oneDNN use on this processor.
std::int64_t preferred_channel_block() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::isa_default:
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2: return 8;
    default: return 16;
  }
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(int threads) {
    context_.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    context_.stream = dnnl::stream(context_.engine);
    context_.threads = threads == 0 ? usable_cores() : threads;
    context_.channel_block = preferred_channel_block();
  }

  std::string name() const override { return text("cpu (", context_.threads, " threads)"); }

  std::shared_ptr<State> make_state() override { return std::make_shared<cpu::CpuState>(); }

  std::unique_ptr<Executable> compile(const graph::Graph& graph, std::shared_ptr<State> state,
                                      const CompileOptions& options) override {
    auto cpu_state = std::dynamic_pointer_cast<cpu::CpuState>(state);
    if (cpu_state == nullptr) fail("the state belongs to another device than the CPU");
    try {
      return std::make_unique<cpu::CpuExecutable>(graph, std::move(cpu_state), context_, options);
    } catch (const dnnl::error& error) {
      fail("oneDNN could not prepare the graph '", graph.name, "': ", error.what());
    }
  }

 private:
  cpu::Context context_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int threads) {
  if (threads < 0) fail_usage("the number of threads must be positive, or 0 for one a core, not ", threads);
  return std::make_unique<CpuDevice>(threads);
}

}  // namespace ort_train::runtime
