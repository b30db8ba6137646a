#include "runtime/collectives/wire.h"

#include <algorithm>

#include "runtime/collectives/sum.h"

namespace ort_train::runtime {

DataType partial_type(DataType dtype, const Layout& layout) {
  return layout.replicas_per_process == 1 ? dtype : sum_type(dtype);
}

std::vector<Shard> pieces_of(const Shard& elements, std::size_t element_size) {
  const auto each = static_cast<std::int64_t>(piece_bytes / element_size);
  std::vector<Shard> pieces;
  for (std::int64_t first = 0; first < elements.rows; first += each) {
    pieces.push_back({elements.first + first, std::min(each, elements.rows - first)});
  }
  return pieces;
}

std::size_t payload_bytes(const Operation& operation, const Layout& layout) {
  const auto local = static_cast<std::size_t>(layout.replicas_per_process);
  switch (operation.kind) {
    case OperationKind::all_reduce: return operation.count * size_of(partial_type(operation.dtype, layout));
    case OperationKind::broadcast: return operation.count * size_of(operation.dtype);
    case OperationKind::reduce_scatter: return operation.count * local * size_of(partial_type(operation.dtype, layout));
    case OperationKind::all_gather: return operation.count * local * size_of(operation.dtype);
    case OperationKind::barrier: break;
  }
  return 0;
}

}  // namespace ort_train::runtime
