// GPUs as the rest of the program asks for them, whether or not CUDA is there.
#include "base/error.h"
#include "runtime/cuda/library.h"

namespace ort_train::runtime {

int cuda_device_count() {
  try {
    return cuda::entry_points().count_devices();
  } catch (const Error& error) {
    fail_usage("a GPU was asked for, but ", error.what(), "; to use the CPU: --device cpu, which is the default");
  }
}

std::unique_ptr<Device> make_cuda_device(int index, const CudaOptions& options) {
  const int count = cuda_device_count();
  if (index < 0 || index >= count) {
    fail_usage("GPU ", index, " was asked for, but this process sees ", count, count == 1 ? " GPU" : " GPUs",
               ", counted from 0; look at CUDA_VISIBLE_DEVICES");
  }
  return cuda::entry_points().make_device(index, options);
}

std::vector<CudaDeviceDescription> cuda_devices() { return cuda::entry_points().devices(); }

}  // namespace ort_train::runtime
