// What a machine has of CUDA, one line each: the GPUs that the runtime sees, and the versions of the libraries.
#include <dlfcn.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <string>

#include "runtime/cuda/device.h"

namespace {

// Looked up in the whole process, so that virtual GPUs answer where they stand in for a library.
template <typename Function>
Function* find(const char* library, const char* name) {
  if (dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    std::cout << library << ": cannot be loaded (" << (reason == nullptr ? "" : reason) << ")\n";
    return nullptr;
  }
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Versions that come by a pointer: of the CUDA runtime and of NCCL, with status 0 when all is well.
void print_by_pointer(const char* title, const char* library, const char* function) {
  auto* ask = find<int(int*)>(library, function);
  int version = 0;
  if (ask != nullptr && ask(&version) == 0) std::cout << title << ": " << version << "\n";
}

void print_by_value(const char* title, const char* library, const char* function) {
  auto* ask = find<std::size_t()>(library, function);
  if (ask != nullptr) std::cout << title << ": " << ask() << "\n";
}

void print_versions() {
  print_by_pointer("CUDA driver", "libcudart.so.13", "cudaDriverGetVersion");
  print_by_pointer("CUDA runtime", "libcudart.so.13", "cudaRuntimeGetVersion");
  print_by_value("cuDNN", "libcudnn.so.9", "cudnnGetVersion");
  print_by_value("cuBLASLt", "libcublasLt.so.13", "cublasLtGetVersion");
  print_by_pointer("NCCL", "libnccl.so.2", "ncclGetVersion");
}

void print_devices() {
  for (const auto& device : ort_train::runtime::cuda_devices()) {
    std::cout << "GPU " << device.index << ": " << device.name << ", compute capability "
              << device.compute_capability / 10 << "." << device.compute_capability % 10 << ", "
              << (device.total_bytes >> 20) << " MiB\n";
  }
}

}  // namespace

int main() {
  try {
    print_versions();
    print_devices();
    return 0;
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}
