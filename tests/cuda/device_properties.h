#pragma once

#include <string>

namespace ort_train::test {

/// A GPU as cuDNN's device-property descriptor sees it.
struct GpuModel {
  const char* name;
  /// 75, 80, 90.
  int compute_capability;
  int multiprocessors;
  int shared_memory_per_block_bytes;
  int reserved_shared_memory_bytes;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
};

inline constexpr GpuModel h200{"NVIDIA H200", 90, 132, 232448, 1024, 2048, 32};
inline constexpr GpuModel a100{"NVIDIA A100-SXM4-80GB", 80, 108, 166912, 1024, 2048, 32};
inline constexpr GpuModel t4{"Tesla T4", 75, 40, 65536, 0, 1024, 16};

/// The text for CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION. cuDNN requires every key.
std::string device_properties(const GpuModel& model);

}  // namespace ort_train::test
