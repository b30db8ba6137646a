#include "runtime/collectives/traffic.h"

#include <algorithm>

#include "runtime/collectives/scratch.h"
#include "runtime/collectives/wire.h"

namespace ort_train::runtime {

namespace {

/// `elements`, sent once to each of `receivers`.
void add_pieces(const Shard& elements, DataType dtype, int receivers, Collective::Statistics& traffic) {
  const auto copies = static_cast<std::uint64_t>(receivers);
  traffic.messages += pieces_of(elements, size_of(dtype)).size() * copies;
  traffic.bytes_sent += static_cast<std::uint64_t>(elements.rows) * size_of(dtype) * copies;
}

/// What follows the greetings when the bytes are many.
void add_data(const Operation& operation, const Layout& layout, int process, Collective::Statistics& traffic) {
  const int others = layout.processes - 1;
  const auto count = static_cast<std::int64_t>(operation.count);
  const std::int64_t chunk = count * layout.replicas_per_process;
  const DataType partial = partial_type(operation.dtype, layout);
  switch (operation.kind) {
    case OperationKind::all_reduce:
      for (int other = 0; other < layout.processes; ++other) {
        if (other != process) add_pieces(shard_of(count, layout.processes, other), partial, 1, traffic);
      }
      // Pieces are those of the partial sums; the sum itself may have smaller elements.
      for (const Shard& piece : pieces_of(shard_of(count, layout.processes, process), size_of(partial))) {
        add_pieces(piece, operation.dtype, others, traffic);
      }
      break;
    case OperationKind::broadcast:
      if (process == layout.process_of(operation.root)) add_pieces({0, count}, operation.dtype, others, traffic);
      break;
    case OperationKind::reduce_scatter: add_pieces({0, chunk}, partial, others, traffic); break;
    case OperationKind::all_gather: add_pieces({0, chunk}, operation.dtype, others, traffic); break;
    case OperationKind::barrier: break;
  }
}

}  // namespace

Collective::Statistics& operator+=(Collective::Statistics& sum, const Collective::Statistics& more) {
  sum.operations += more.operations;
  sum.messages += more.messages;
  sum.bytes_sent += more.bytes_sent;
  sum.bytes_reduced += more.bytes_reduced;
  sum.partial_bytes = std::max(sum.partial_bytes, more.partial_bytes);
  sum.received_bytes = std::max(sum.received_bytes, more.received_bytes);
  return sum;
}

Collective::Statistics traffic_of(const Operation& operation, const Layout& layout, int rank) {
  Collective::Statistics traffic;
  traffic.operations = 1;
  if (operation.kind == OperationKind::all_reduce) {
    traffic.bytes_reduced = operation.count * size_of(operation.dtype);
  } else if (operation.kind == OperationKind::reduce_scatter) {
    traffic.bytes_reduced = operation.count * size_of(operation.dtype) * static_cast<std::uint64_t>(layout.replicas());
  }
  const int process = layout.process_of(rank);
  if (layout.processes == 1 || rank != process * layout.replicas_per_process) return traffic;

  Layout own = layout;
  own.process = process;
  const Scratch scratch = scratch_of(operation, own);
  traffic.partial_bytes = scratch.partial + scratch.result;
  traffic.received_bytes = scratch.received;
  const auto others = static_cast<std::uint64_t>(layout.processes - 1);
  const std::size_t payload = payload_bytes(operation, layout);
  traffic.messages += others;
  traffic.bytes_sent += others * sizeof(Greeting);
  if (payload > greeting_payload_bytes) {
    add_data(operation, layout, process, traffic);
  } else if (operation.kind != OperationKind::broadcast || process == layout.process_of(operation.root)) {
    traffic.bytes_sent += others * payload;
  }
  return traffic;
}

}  // namespace ort_train::runtime
