#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace virtual_gpu {

/// What the virtual devices claim to be, by VIRTUAL_GPU_MODEL.
struct Model {
  std::string name;
  int major = 9, minor = 0;
  int multiprocessors = 132;
  int threads_of_multiprocessor = 2048, blocks_of_multiprocessor = 32;
  int shared_bytes_optin = 232448, reserved_shared_bytes = 1024;
  long long memory_bytes = 0;
  int l2_bytes = 0;
};

const Model& model();

/// What cuDNN's device-property descriptor takes.
std::string cudnn_json(const Model& model, int device);

}  // namespace virtual_gpu
