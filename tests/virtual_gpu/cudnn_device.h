#pragma once

// What the cuDNN part of the virtual GPUs needs of the rest: devices, streams and reports.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace virtual_gpu {

struct CudnnAccess {
  const void* memory;
  std::size_t bytes;
  bool writes;
};

/// The device that the calling thread works on.
int cudnn_current_device();

/// The device of a stream.
int cudnn_stream_device(cudaStream_t stream);

/// What cuDNN's device-property descriptor says of a device, as its JSON text.
std::string cudnn_device_properties(int device);

/// Appends work to a stream, with the memory it reads and writes; captured when the stream is. False when the stream
/// refuses it.
bool cudnn_enqueue(cudaStream_t stream, const std::string& name, std::vector<CudnnAccess> accesses,
                   std::function<void()> work);

/// A mistake of the program under test, or something that virtual GPUs cannot do: the run is failed with a sentence.
void cudnn_report(const std::string& sentence);

}  // namespace virtual_gpu
