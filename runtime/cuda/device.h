#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace ort_train::runtime {

struct CudaOptions {
  /// Products of float32 arrays may be rounded to TF32: 10 bits of mantissa instead of 23, several times as fast.
  bool tf32 = false;
  /// A step is captured once as a CUDA graph and replayed.
  bool capture = true;
  /// Where cuDNN's plans are kept between runs; empty: nowhere.
  std::filesystem::path plan_cache;
};

/// GPU number `index` of this machine, counted as CUDA_VISIBLE_DEVICES leaves them. Throws (usage) when the program was
/// built without CUDA, when its libraries or its driver are missing, or when there is no such GPU; the message says
/// what to do.
std::unique_ptr<Device> make_cuda_device(int index, const CudaOptions& options = {});

/// How many there are, at least one; throws as `make_cuda_device` does. Takes nothing on any of them.
int cuda_device_count();

/// One GPU that this process can see.
struct CudaDeviceDescription {
  int index = 0;
  std::string name;
  int compute_capability = 0;  ///< major times 10 plus minor
  std::size_t total_bytes = 0, free_bytes = 0;
  std::string problem;  ///< why it cannot be used, as far as that shows; then `free_bytes` says nothing
};

/// Throws (usage) when there are none, or no CUDA; the message says only why. To know how much memory is free, CUDA
/// takes some of it on each GPU until the program ends: this is for looking, not for a program that goes on to train.
std::vector<CudaDeviceDescription> cuda_devices();

}  // namespace ort_train::runtime
