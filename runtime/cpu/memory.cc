#include "runtime/cpu/memory.h"

#include <cstdlib>
#include <cstring>

#include "base/error.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ort_train::runtime::cpu {

namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;

}  // namespace

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= huge_page ? huge_page : page;
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) fail("out of memory: ", bytes, " bytes could not be allocated; a smaller batch needs less");
#ifdef __linux__
  // Fewer page faults and TLB misses; a refusal costs only speed.
  if (bytes >= huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, rounded);
  return {memory, [](std::byte* p) { std::free(p); }};
}

}  // namespace ort_train::runtime::cpu
