#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace virtual_gpu {

inline constexpr int pinned_host = -1;

/// Where an address belongs.
struct Block {
  const void* begin = nullptr;
  std::size_t bytes = 0;
  int device = pinned_host;
};

/// The live block that holds all `bytes` bytes at `memory`.
std::optional<Block> find_block(const void* memory, std::size_t bytes);

/// Filled with NaN, so that reading what nobody wrote shows. Null when the device has no room.
void* allocate_on(int device, std::size_t bytes);
/// False when no block begins there.
bool release(void* memory);

std::size_t total_memory();
std::size_t free_memory(int device);

/// "device 0 block 0x... + 128", for reports.
std::string place_of(const void* memory);

}  // namespace virtual_gpu
