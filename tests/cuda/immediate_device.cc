// The device that tests of cuDNN's arithmetic run on: one GPU whose streams do their work at once, on the thread that
// enqueues it. Order between streams is what the whole virtual GPUs are tested with.
#include <stdexcept>

#include "tests/cuda/device_properties.h"
#include "tests/virtual_gpu/cudnn_device.h"

namespace virtual_gpu {

int cudnn_current_device() { return 0; }

int cudnn_stream_device(cudaStream_t) { return 0; }

std::string cudnn_device_properties(int) { return ort_train::test::device_properties(ort_train::test::h200); }

bool cudnn_enqueue(cudaStream_t, const std::string&, std::vector<CudnnAccess>, std::function<void()> work) {
  work();
  return true;
}

/// No report is expected; thrown through cuDNN's frontend, it fails the test that caused it.
void cudnn_report(const std::string& sentence) { throw std::runtime_error(sentence); }

}  // namespace virtual_gpu
