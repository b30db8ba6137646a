// What stands in for runtime/cuda/ in a program that is built without it.
#include "runtime/cuda/device.h"

namespace ort_train::runtime {

std::unique_ptr<Device> make_cuda_device(int index) {
  fail_usage("GPU ", index, " was asked for, but this program is built without CUDA; train on the CPU instead",
             " (--device cpu, which is the default)");
}

}  // namespace ort_train::runtime
