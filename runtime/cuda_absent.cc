// What stands in for runtime/cuda/ in a program that is built without it.
#include "base/error.h"
#include "runtime/cuda/device.h"

namespace ort_train::runtime {

namespace {

[[noreturn]] void fail_without_cuda() {
  fail_usage("a GPU was asked for, but this program is built without CUDA; build it where the CUDA toolkit, cuDNN and ",
             "NCCL are installed, or train on the CPU (--device cpu, which is the default)");
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int, const CudaOptions&) { fail_without_cuda(); }

std::vector<CudaDeviceDescription> cuda_devices() { fail_without_cuda(); }

}  // namespace ort_train::runtime
