#include "tools/device_list.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "runtime/training/text_format.h"

namespace ort_train::tools {
namespace {

using Row = std::array<std::string, 5>;

std::string capability_of(const runtime::CudaDeviceDescription& gpu) {
  return text(gpu.compute_capability / 10, ".", gpu.compute_capability % 10);
}

Row row_of(const runtime::CpuDescription& cpu) {
  return {"CPU", cpu.name, text(cpu.cores, cpu.cores == 1 ? " core, " : " cores, ", cpu.instruction_set),
          training::in_bytes(cpu.total_bytes), training::in_bytes(cpu.free_bytes)};
}

Row row_of(const runtime::CudaDeviceDescription& gpu) {
  return {text("GPU ", gpu.index), gpu.name, "compute capability " + capability_of(gpu),
          training::in_bytes(gpu.total_bytes), gpu.problem.empty() ? training::in_bytes(gpu.free_bytes) : gpu.problem};
}

std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, 5> widths = {};
  for (const Row& row : rows) {
    // Nothing stands right of the last column.
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string result;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      result += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    result += row.back() + "\n";
  }
  return result;
}

std::string quoted(const std::string& plain) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : plain) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    if (code < 0x20) {
      result += std::string("\\u00") + digits[code / 16] + digits[code % 16];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// null stands for "there is nothing to say".
std::string quoted_or_null(const std::string& plain) { return plain.empty() ? "null" : quoted(plain); }

std::string json_of(const runtime::CpuDescription& cpu) {
  return text("{\"name\": ", quoted(cpu.name), ", \"cores\": ", cpu.cores,
              ", \"instruction_set\": ", quoted(cpu.instruction_set), ", \"total_bytes\": ", cpu.total_bytes,
              ", \"free_bytes\": ", cpu.free_bytes, "}");
}

std::string json_of(const runtime::CudaDeviceDescription& gpu) {
  const std::string free_bytes = gpu.problem.empty() ? text(gpu.free_bytes) : "null";
  return text("{\"index\": ", gpu.index, ", \"name\": ", quoted(gpu.name),
              ", \"compute_capability\": ", quoted(capability_of(gpu)), ", \"total_bytes\": ", gpu.total_bytes,
              ", \"free_bytes\": ", free_bytes, ", \"problem\": ", quoted_or_null(gpu.problem), "}");
}

}  // namespace

DeviceList list_devices() {
  DeviceList devices;
  devices.cpu = runtime::describe_cpu();
  try {
    devices.gpus = runtime::cuda_devices();
  } catch (const Error& error) {
    devices.why_no_gpus = error.what();
  }
  return devices;
}

std::string to_text(const DeviceList& devices) {
  std::vector<Row> rows = {{"device", "name", "computes with", "memory", "free"}, row_of(devices.cpu)};
  for (const auto& gpu : devices.gpus) rows.push_back(row_of(gpu));
  const std::string why = devices.why_no_gpus.empty() ? "" : "no GPU: " + devices.why_no_gpus + "\n";
  return aligned(rows) + why;
}

std::string to_json(const DeviceList& devices) {
  std::string gpus;
  for (const auto& gpu : devices.gpus) gpus += (gpus.empty() ? "\n    " : ",\n    ") + json_of(gpu);
  return text("{\n  \"cpu\": ", json_of(devices.cpu), ",\n  \"gpus\": [", gpus,
              "],\n  \"why_no_gpus\": ", quoted_or_null(devices.why_no_gpus), "\n}\n");
}

}  // namespace ort_train::tools
