#pragma once

#include <cstddef>
#include <memory>

namespace ort_train::runtime::cpu {

/// Zeroed memory, aligned to a page, in huge pages where the system has them. Never null: an empty block has an address
/// too.
std::shared_ptr<std::byte> allocate(std::size_t bytes);

}  // namespace ort_train::runtime::cpu
