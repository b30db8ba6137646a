#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/shard.h"
#include "runtime/collectives/layout.h"
#include "runtime/collectives/operation.h"

// What processes send each other for one operation. First every process sends every other one a greeting: what it
// calls and, when they are few, its bytes. The greetings show a mismatch before any memory is touched. Many bytes
// follow in pieces.
namespace ort_train::runtime {

struct Greeting {
  std::uint64_t sequence = 0;  ///< of the operation
  std::uint64_t count = 0;
  OperationKind kind = OperationKind::barrier;
  DataType dtype = DataType::undefined;
  std::int32_t root = 0;
  std::int32_t replicas_per_process = 1;
};
static_assert(sizeof(Greeting) == 32, "a greeting is sent as its bytes");

/// So many bytes still travel with the greeting.
inline constexpr std::size_t greeting_payload_bytes = 8192;
/// A piece is summed while the next one travels; MPI counts a message's bytes in an int.
inline constexpr std::size_t piece_bytes = 1 << 20;

/// The type in which a process sends the sum over its own replicas.
DataType partial_type(DataType dtype, const Layout& layout);

/// Cuts consecutive elements into pieces of at most `piece_bytes`. Nothing gives no piece.
std::vector<Shard> pieces_of(const Shard& elements, std::size_t element_size);

/// Bytes that may travel with the greeting to each other process, counted once.
std::size_t payload_bytes(const Operation& operation, const Layout& layout);

}  // namespace ort_train::runtime
