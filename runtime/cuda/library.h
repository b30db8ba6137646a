#pragma once

#include "runtime/cuda/device.h"

namespace ort_train::runtime::cuda {

/// What the CUDA side offers to the rest: the table that libort_train_cuda.so exports under `entry_name`. It is a
/// library of its own, loaded only when a GPU is asked for, so that one build runs on machines with and without CUDA.
struct EntryPoints {
  /// `index` is that of a GPU which is there.
  std::unique_ptr<Device> (*make_device)(int index, const CudaOptions& options);
  /// At least one; throws (usage) why there is none.
  int (*count_devices)();
  std::vector<CudaDeviceDescription> (*devices)();
};

/// Those of the library, loaded at the first call. Throws (usage) why it cannot be had.
const EntryPoints& entry_points();

inline constexpr const char* entry_name = "ort_train_cuda_entry_points";
inline constexpr const char* library_name = "libort_train_cuda.so";

}  // namespace ort_train::runtime::cuda
