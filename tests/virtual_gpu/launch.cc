// Kernels of the project's own: the host version runs when its turn on the stream comes.
#include "runtime/cuda/virtual_launch.h"
#include "tests/virtual_gpu/core.h"
#include "tests/virtual_gpu/cuda_errors.h"

using namespace virtual_gpu;

extern "C" cudaError_t ort_train_virtual_launch(cudaStream_t stream, const char* kernel,
                                                const ort_train::runtime::cuda::MemoryAccess* accesses,
                                                std::size_t count, const std::function<void()>* run) {
  if (const int error = injected("kernel")) return keep_error(error);
  std::vector<Access> touched;
  for (std::size_t i = 0; i < count; ++i)
    touched.push_back({accesses[i].memory, accesses[i].bytes, accesses[i].writes});
  return keep_error(enqueue(stream, kernel, std::move(touched), [work = *run](Running&) { work(); }));
}
