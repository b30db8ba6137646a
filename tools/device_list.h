#pragma once

#include <string>
#include <vector>

#include "runtime/cpu/description.h"
#include "runtime/cuda/device.h"

namespace ort_train::tools {

/// Everything that this process can compute on.
struct DeviceList {
  runtime::CpuDescription cpu;
  std::vector<runtime::CudaDeviceDescription> gpus;
  std::string why_no_gpus;  ///< empty where there are some
};

DeviceList list_devices();

/// A table with a line for each device, and why there are no GPUs.
std::string to_text(const DeviceList& devices);
/// The same for programs.
std::string to_json(const DeviceList& devices);

}  // namespace ort_train::tools
