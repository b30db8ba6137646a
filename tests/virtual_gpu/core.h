#pragma once

// Virtual GPUs for tests: device memory is host memory, a stream is a thread, a kernel is a function. What every
// operation reads and writes is named, and an access that is not ordered after the one it depends on is reported, even
// when it happens to come in time.
//
// Environment:
//   VIRTUAL_GPU_COUNT      devices, default 4
//   VIRTUAL_GPU_MODEL      H200 (default), A100 or T4
//   VIRTUAL_GPU_MEMORY_MB  memory of a device, default 2048
//   VIRTUAL_GPU_TIMEOUT    seconds after which a wait is reported as a hang, default 60
//   VIRTUAL_GPU_FAULTS     "cudaMalloc:3:2,kernel:5:719": the third call of cudaMalloc returns error 2, and so on
//                          An api is the name of an entry point, or
//                          kernel    a kernel of the project's own is launched
//                          device1   device 1 carries out an operation, and fails for good instead
//                          hang1     rank 1 carries out a collective, and never arrives; waiting ranks learn nothing
//                          death1    the same, and its communicator and those of the others get this NCCL error
//   VIRTUAL_GPU_EXPECTED   kinds of reports that do not fail the program: "collective,timeout"
//   VIRTUAL_GPU_JITTER     microseconds that an operation waits at most before it runs, at random; default 0

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace virtual_gpu {

/// Memory that an operation touches.
struct Access {
  const void* memory = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
};

inline Access read_of(const void* memory, std::size_t bytes) { return {memory, bytes, false}; }
inline Access write_of(const void* memory, std::size_t bytes) { return {memory, bytes, true}; }

/// How much of the work of every stream is known to be done, by the stream's number.
using Clock = std::vector<std::uint64_t>;

void join(Clock& clock, const Clock& other);

/// What an operation sees while it runs on the thread of its stream.
struct Running {
  int device = 0;
  Clock& clock;
};
using Work = std::function<void(Running&)>;

/// The one way in which work reaches a device: at the end of a stream, or into the graph that it captures. `name` must
/// live as long as the program.
cudaError_t enqueue(cudaStream_t stream, const char* name, std::vector<Access> accesses, Work work);

int device_count();
int current_device();
int device_of(cudaStream_t stream);

/// The host touches memory that devices use, too, such as a pinned block: checked like the access of an operation.
void host_access(const void* memory, std::size_t bytes, bool writes);

/// Something that the program under test does wrong. A program that ends with reports nobody has taken ends with exit
/// code 86 and tells them. Kinds: race, bounds, device, api, collective, timeout.
struct Report {
  std::string kind, text;
};
void report(const std::string& kind, const std::string& text);
std::vector<Report> take_reports();

/// The k-th call of `api` from now on, counted from 1, returns `error`.
void inject(const std::string& api, int k, int error);
/// The error that this call of `api` shall return, or 0.
int injected(const std::string& api);

double timeout_seconds();

/// The number in an environment variable.
double setting(const char* variable, double otherwise);

}  // namespace virtual_gpu
