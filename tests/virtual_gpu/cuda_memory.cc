// Entry points of cudart that deal with memory.
#include <cstring>

#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/cuda_errors.h"
#include "tests/virtual_gpu/memory.h"
#include "tests/virtual_gpu/stream.h"

using namespace virtual_gpu;

namespace {

/// Pageable host memory is in no block and cannot be checked.
bool is_in_known_memory(const void* memory) { return find_block(memory, 1).has_value(); }

bool is_on_device(const void* memory) {
  const auto block = find_block(memory, 1);
  return block && block->device != pinned_host;
}

std::vector<Access> accesses_of_copy(const void* target, const void* source, std::size_t bytes) {
  std::vector<Access> accesses;
  if (is_in_known_memory(source)) accesses.push_back(read_of(source, bytes));
  if (is_in_known_memory(target)) accesses.push_back(write_of(target, bytes));
  return accesses;
}

void check_direction(const void* target, const void* source, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (from_device == is_on_device(source) && to_device == is_on_device(target)) return;
  report("api", "cudaMemcpy: from " + place_of(source) + " to " + place_of(target) + " is not of kind " +
                    std::to_string(kind));
}

}  // namespace

extern "C" {

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  if (const cudaError_t error = device_error(current_device())) return keep_error(error);
  *total = total_memory();
  *available = free_memory(current_device());
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (const int error = injected("cudaMalloc")) return keep_error(error);
  if (invalidates_capture()) return keep_error(cudaErrorStreamCaptureUnsupported);
  if (const cudaError_t error = device_error(current_device())) return keep_error(error);
  *memory = allocate_on(current_device(), bytes);
  return *memory == nullptr ? keep_error(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (invalidates_capture()) return keep_error(cudaErrorStreamCaptureUnsupported);
  const auto block = find_block(memory, 0);
  if (!block || block->device == pinned_host) return keep_error(cudaErrorInvalidValue);
  // As the real one, which waits for the device.
  for (const auto& stream : streams_of(block->device)) stream->synchronize();
  return release(memory) ? cudaSuccess : keep_error(cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (const int error = injected("cudaHostAlloc")) return keep_error(error);
  *memory = allocate_on(pinned_host, bytes);
  return *memory == nullptr ? keep_error(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }

cudaError_t cudaFreeHost(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  return release(memory) ? cudaSuccess : keep_error(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  if (const int error = injected("cudaMemcpyAsync")) return keep_error(error);
  if (bytes > 0) check_direction(target, source, kind);
  const auto copy = [=](Running&) { std::memcpy(target, source, bytes); };
  const cudaError_t status = enqueue(handle, "cudaMemcpyAsync", accesses_of_copy(target, source, bytes), copy);
  if (status != cudaSuccess) return keep_error(status);
  // From or to pageable memory the real one waits, and cannot be captured.
  if (is_in_known_memory(source) && is_in_known_memory(target)) return cudaSuccess;
  const auto stream = find_stream(handle);
  {
    const std::lock_guard lock(capture_mutex());
    if (stream->capture != nullptr) {
      report("api", "a copy from or to pageable host memory is captured");
      stream->capture->is_invalid = true;
      return keep_error(cudaErrorStreamCaptureUnsupported);
    }
  }
  return keep_error(stream->synchronize());
}

cudaError_t cudaMemcpy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  if (invalidates_capture()) return keep_error(cudaErrorStreamCaptureUnsupported);
  if (const cudaError_t status = cudaMemcpyAsync(target, source, bytes, kind, nullptr)) return status;
  return keep_error(find_stream(nullptr)->synchronize());
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t handle) {
  if (const int error = injected("cudaMemsetAsync")) return keep_error(error);
  return keep_error(enqueue(handle, "cudaMemsetAsync", {write_of(memory, bytes)},
                            [=](Running&) { std::memset(memory, value, bytes); }));
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  if (invalidates_capture()) return keep_error(cudaErrorStreamCaptureUnsupported);
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  std::memset(attributes, 0, sizeof *attributes);
  const auto block = find_block(memory, 0);
  attributes->type = !block                         ? cudaMemoryTypeUnregistered
                     : block->device == pinned_host ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
  if (block && block->device != pinned_host) {
    attributes->device = block->device;
    attributes->devicePointer = const_cast<void*>(memory);
  }
  return cudaSuccess;
}

}  // extern "C"
