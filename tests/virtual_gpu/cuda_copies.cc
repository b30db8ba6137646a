// Copies of rectangles, between devices, and memory of a stream.
#include <cstring>

#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/cuda_errors.h"
#include "tests/virtual_gpu/memory.h"
#include "tests/virtual_gpu/stream.h"

using namespace virtual_gpu;

namespace {

/// Rows of `width` bytes, `pitch` bytes apart.
struct Rectangle {
  std::size_t pitch = 0, width = 0, height = 0;
};

// Each row by itself: what lies between them may be in use by others.
void add_rows(std::vector<Access>& accesses, const void* memory, const Rectangle& rectangle, bool writes) {
  const auto* bytes = static_cast<const std::byte*>(memory);
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    accesses.push_back({bytes + row * rectangle.pitch, rectangle.width, writes});
  }
}

bool is_known(const void* memory) { return find_block(memory, 0).has_value(); }

}  // namespace

extern "C" {

cudaError_t cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (const int error = injected("cudaMemcpy2DAsync")) return keep_error(error);
  if (width > target_pitch || width > source_pitch) return keep_error(cudaErrorInvalidPitchValue);
  if (!is_known(source) || !is_known(target)) {
    report("api", "cudaMemcpy2DAsync: from or to memory that is neither a device's nor pinned");
    return keep_error(cudaErrorInvalidValue);
  }
  std::vector<Access> accesses;
  add_rows(accesses, source, {source_pitch, width, height}, false);
  add_rows(accesses, target, {target_pitch, width, height}, true);
  return keep_error(enqueue(stream, "cudaMemcpy2DAsync", std::move(accesses), [=](Running&) {
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(static_cast<std::byte*>(target) + row * target_pitch,
                  static_cast<const std::byte*>(source) + row * source_pitch, width);
    }
  }));
}

cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  if (const int error = injected("cudaMemset2DAsync")) return keep_error(error);
  if (width > pitch) return keep_error(cudaErrorInvalidPitchValue);
  std::vector<Access> accesses;
  add_rows(accesses, memory, {pitch, width, height}, true);
  return keep_error(enqueue(stream, "cudaMemset2DAsync", std::move(accesses), [=](Running&) {
    for (std::size_t row = 0; row < height; ++row) {
      std::memset(static_cast<std::byte*>(memory) + row * pitch, value, width);
    }
  }));
}

cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  if (const int error = injected("cudaMallocAsync")) return keep_error(error);
  const int device = device_of(stream);
  if (device < 0) return keep_error(cudaErrorInvalidResourceHandle);
  *memory = allocate_on(device, bytes);
  return *memory == nullptr ? keep_error(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  if (memory == nullptr) return cudaSuccess;
  const auto block = find_block(memory, 0);
  if (!block || block->begin != memory) return keep_error(cudaErrorInvalidValue);
  return keep_error(
      enqueue(stream, "cudaFreeAsync", {write_of(memory, block->bytes)}, [memory](Running&) { release(memory); }));
}

}  // extern "C"
