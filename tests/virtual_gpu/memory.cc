#include "tests/virtual_gpu/memory.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "tests/virtual_gpu/access_checker.h"
#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

namespace {

// As cudaMalloc aligns.
constexpr std::size_t alignment = 256;

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

struct Blocks {
  std::mutex mutex;
  std::map<std::uintptr_t, Block> by_address;
  std::map<int, std::size_t> used;
};

Blocks& blocks() {
  static auto* const only = new Blocks;
  return *only;
}

std::optional<Block> block_at(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto next = blocks().by_address.upper_bound(address);
  if (next == blocks().by_address.begin()) return std::nullopt;
  return std::prev(next)->second;
}

}  // namespace

std::size_t total_memory() {
  static const auto bytes = static_cast<std::size_t>(setting("VIRTUAL_GPU_MEMORY_MB", 2048) * (1 << 20));
  return bytes;
}

std::size_t free_memory(int device) {
  const std::lock_guard lock(blocks().mutex);
  return total_memory() - blocks().used[device];
}

void* allocate_on(int device, std::size_t bytes) {
  const std::lock_guard lock(blocks().mutex);
  if (device != pinned_host) {
    std::size_t& used = blocks().used[device];
    if (used + rounded(bytes) > total_memory()) return nullptr;
    used += rounded(bytes);
  }
  void* memory = nullptr;
  // Of exact size, so that AddressSanitizer sees every overrun.
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  std::memset(memory, 0xff, bytes);
  blocks().by_address[reinterpret_cast<std::uintptr_t>(memory)] = {memory, bytes, device};
  return memory;
}

bool release(void* memory) {
  Block block;
  {
    const std::lock_guard lock(blocks().mutex);
    const auto found = blocks().by_address.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == blocks().by_address.end()) return false;
    block = found->second;
    if (block.device != pinned_host) blocks().used[block.device] -= rounded(block.bytes);
    blocks().by_address.erase(found);
  }
  forget_accesses(memory, block.bytes);
  std::free(memory);
  return true;
}

std::optional<Block> find_block(const void* memory, std::size_t bytes) {
  const std::lock_guard lock(blocks().mutex);
  const std::optional<Block> block = block_at(memory);
  if (!block) return std::nullopt;
  const auto begin = reinterpret_cast<std::uintptr_t>(block->begin), address = reinterpret_cast<std::uintptr_t>(memory);
  if (address + bytes > begin + block->bytes) return std::nullopt;
  return block;
}

std::string place_of(const void* memory) {
  const std::lock_guard lock(blocks().mutex);
  char text[96];
  const std::optional<Block> block = block_at(memory);
  if (!block) {
    std::snprintf(text, sizeof text, "%p", memory);
    return text;
  }
  const auto offset = reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(block->begin);
  if (block->device == pinned_host) {
    std::snprintf(text, sizeof text, "pinned block %p + %zu", block->begin, static_cast<std::size_t>(offset));
  } else {
    std::snprintf(text, sizeof text, "device %d block %p + %zu", block->device, block->begin,
                  static_cast<std::size_t>(offset));
  }
  return text;
}

}  // namespace virtual_gpu
