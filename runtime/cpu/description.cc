#include "runtime/cpu/description.h"

#include <fstream>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/cores.h"

namespace ort_train::runtime {

namespace {

/// What follows "key:" in a file of such lines; empty when it is not there.
std::string field_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::size_t bytes_of(const std::string& kilobytes) { return kilobytes.empty() ? 0 : std::stoull(kilobytes) * 1024; }

std::string instruction_set() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::isa_default: return "as compiled";
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx2_vnni_2: return "AVX2";
    case dnnl::cpu_isa::avx512_core_amx:
    case dnnl::cpu_isa::avx512_core_amx_fp16: return "AVX-512, AMX";
    default: return "AVX-512";
  }
}

}  // namespace

CpuDescription describe_cpu() {
  CpuDescription description;
  description.name = field_of("/proc/cpuinfo", "model name");
  if (description.name.empty()) description.name = "unknown";
  description.cores = usable_cores();
  description.instruction_set = instruction_set();
  description.total_bytes = bytes_of(field_of("/proc/meminfo", "MemTotal"));
  description.free_bytes = bytes_of(field_of("/proc/meminfo", "MemAvailable"));
  return description;
}

}  // namespace ort_train::runtime
