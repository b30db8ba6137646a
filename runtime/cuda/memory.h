#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace ort_train::runtime::cuda {

/// Zeroed memory of the current device. Never null: an empty block has an address too. Throws an Error that says what
/// it was for, how much was asked for and how much was free.
std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, std::string_view purpose);

/// Memory of the host that the device can copy to and from while other work goes on.
std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes);

/// Puts a copy on the stream, in whatever direction the addresses say.
void copy(std::byte* target, const std::byte* source, std::size_t bytes, cudaStream_t stream);

/// Zeros.
void clear(std::byte* memory, std::size_t bytes, cudaStream_t stream);

}  // namespace ort_train::runtime::cuda
