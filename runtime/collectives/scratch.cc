#include "runtime/collectives/scratch.h"

#include "base/shard.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/wire.h"

namespace ort_train::runtime {

Scratch scratch_of(const Operation& operation, const Layout& layout) {
  Scratch scratch;
  const bool is_sum = operation.kind == OperationKind::all_reduce || operation.kind == OperationKind::reduce_scatter;
  if (layout.processes == 1 || !is_sum) return scratch;
  const auto local = static_cast<std::size_t>(layout.replicas_per_process);
  const std::size_t sum_size = size_of(sum_type(operation.dtype)), size = size_of(operation.dtype);
  const bool parts = operation.kind == OperationKind::reduce_scatter;
  if (local > 1 && parts) {
    scratch.partial = operation.count * static_cast<std::size_t>(layout.replicas()) * sum_size;
    scratch.result = operation.count * local * size;
  } else if (local > 1 && sum_type(operation.dtype) != operation.dtype) {
    scratch.partial = operation.count * sum_size;
  }
  if (payload_bytes(operation, layout) > greeting_payload_bytes) {
    const auto count = static_cast<std::int64_t>(operation.count);
    const std::size_t chunk = parts ? operation.count * local
                                    : static_cast<std::size_t>(shard_of(count, layout.processes, layout.process).rows);
    const auto others = static_cast<std::size_t>(layout.processes - 1);
    scratch.received = others * chunk * size_of(partial_type(operation.dtype, layout));
  }
  return scratch;
}

void grow(std::vector<std::byte>& memory, std::size_t bytes) {
  if (memory.size() >= bytes) return;
  memory = {};  // before, so that never both are there
  memory = std::vector<std::byte>(bytes);
}

}  // namespace ort_train::runtime
