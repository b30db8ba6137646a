#pragma once

#include <cstddef>
#include <vector>

#include "runtime/collectives/layout.h"
#include "runtime/collectives/operation.h"

namespace ort_train::runtime {

/// Bytes that a process needs for one operation with other processes beside the arrays of its replicas; nothing with
/// one process. Greetings, up to 16 KiB for each other process, are not counted.
struct Scratch {
  std::size_t partial = 0;   ///< the sum over its own replicas, where none of their arrays can hold it
  std::size_t result = 0;    ///< what all its replicas get, before each takes its part
  std::size_t received = 0;  ///< what other processes send, until it is added
};

Scratch scratch_of(const Operation& operation, const Layout& layout);

/// Makes `memory` hold at least so many bytes and not one more; what it held is lost.
void grow(std::vector<std::byte>& memory, std::size_t bytes);

}  // namespace ort_train::runtime
