#include "tests/virtual_gpu/cudnn_device.h"

#include <mutex>
#include <set>

#include "tests/virtual_gpu/core.h"
#include "tests/virtual_gpu/models.h"

namespace virtual_gpu {

namespace {

/// Names of operations live as long as the program.
const char* kept(const std::string& name) {
  static std::mutex mutex;
  static auto* const names = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

}  // namespace

int cudnn_current_device() { return current_device(); }

int cudnn_stream_device(cudaStream_t stream) { return device_of(stream); }

std::string cudnn_device_properties(int device) { return cudnn_json(model(), device); }

bool cudnn_enqueue(cudaStream_t stream, const std::string& name, std::vector<CudnnAccess> accesses,
                   std::function<void()> work) {
  if (injected("cudnnBackendExecute") != 0) return false;
  std::vector<Access> touched;
  touched.reserve(accesses.size());
  for (const CudnnAccess& access : accesses) touched.push_back({access.memory, access.bytes, access.writes});
  return enqueue(stream, kept(name), std::move(touched), [work = std::move(work)](Running&) { work(); }) == cudaSuccess;
}

void cudnn_report(const std::string& sentence) { report("api", "cuDNN: " + sentence); }

}  // namespace virtual_gpu
