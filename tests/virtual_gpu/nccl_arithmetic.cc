#include "tests/virtual_gpu/nccl_arithmetic.h"

#include <algorithm>
#include <cstring>

#include "base/data_type.h"
#include "base/dispatch.h"

namespace virtual_gpu {

using ort_train::DataType;

namespace {

DataType to_data_type(int type) {
  switch (type) {
    case ncclFloat32: return DataType::float32;
    case ncclFloat64: return DataType::float64;
    case ncclFloat16: return DataType::float16;
    case ncclBfloat16: return DataType::bfloat16;
    case ncclInt8: return DataType::int8;
    case ncclUint8: return DataType::uint8;
    case ncclInt32: return DataType::int32;
    case ncclUint32: return DataType::uint32;
    case ncclInt64: return DataType::int64;
    case ncclUint64: return DataType::uint64;
    default: return DataType::undefined;
  }
}

Collective kind_of(const Board::Call& call) { return static_cast<Collective>(call.kind); }

std::size_t bytes_of(const Board::Call& call) {
  return call.count * element_bytes(static_cast<ncclDataType_t>(call.type));
}

template <typename T>
T combined(int operation, T a, T b) {
  switch (operation) {
    case ncclProd: return static_cast<T>(a * b);
    case ncclMax: return std::max(a, b);
    case ncclMin: return std::min(a, b);
    default: return static_cast<T>(a + b);
  }
}

/// Elements [begin, begin + call.count).
template <typename T>
void reduce(const Board::Call& call, const std::vector<std::vector<std::byte>>& brought, std::size_t begin, T* target) {
  constexpr bool is_half = std::is_same_v<T, ort_train::Float16> || std::is_same_v<T, ort_train::BFloat16>;
  using Sum = std::conditional_t<is_half, float, T>;
  const auto element = [&](std::size_t rank, std::size_t i) {
    return static_cast<Sum>(reinterpret_cast<const T*>(brought[rank].data())[i]);
  };
  for (std::size_t i = 0; i < call.count; ++i) {
    Sum sum = element(0, begin + i);
    for (std::size_t rank = 1; rank < brought.size(); ++rank) {
      sum = combined(call.operation, sum, element(rank, begin + i));
    }
    if (call.operation == ncclAvg) sum = static_cast<Sum>(sum / static_cast<Sum>(brought.size()));
    target[i] = static_cast<T>(sum);
  }
}

}  // namespace

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::all_reduce: return "ncclAllReduce";
    case Collective::broadcast: return "ncclBroadcast";
    case Collective::reduce: return "ncclReduce";
    case Collective::reduce_scatter: return "ncclReduceScatter";
    case Collective::all_gather: return "ncclAllGather";
  }
  return "";
}

std::size_t element_bytes(ncclDataType_t type) {
  const DataType known = to_data_type(type);
  return known == DataType::undefined ? 0 : ort_train::size_of(known);
}

bool is_known(ncclRedOp_t operation) { return operation >= ncclSum && operation <= ncclAvg; }

std::size_t source_bytes(const Board::Call& call, int ranks, int rank) {
  switch (kind_of(call)) {
    case Collective::reduce_scatter: return bytes_of(call) * static_cast<std::size_t>(ranks);
    case Collective::broadcast: return rank == call.root ? bytes_of(call) : 0;
    default: return bytes_of(call);
  }
}

std::size_t target_bytes(const Board::Call& call, int ranks, int rank) {
  switch (kind_of(call)) {
    case Collective::all_gather: return bytes_of(call) * static_cast<std::size_t>(ranks);
    case Collective::reduce: return rank == call.root ? bytes_of(call) : 0;
    default: return bytes_of(call);
  }
}

void combine(const Board::Call& call, const std::vector<std::vector<std::byte>>& brought, int rank, void* target) {
  const auto part = [&](int of) -> const std::vector<std::byte>& { return brought[static_cast<std::size_t>(of)]; };
  switch (kind_of(call)) {
    case Collective::broadcast: std::memcpy(target, part(call.root).data(), bytes_of(call)); return;
    case Collective::all_gather: {
      auto* next = static_cast<std::byte*>(target);
      for (const auto& elements : brought) next = std::copy(elements.begin(), elements.end(), next);
      return;
    }
    case Collective::reduce:
      if (rank != call.root) return;
      break;
    default: break;
  }
  const std::size_t begin =
      kind_of(call) == Collective::reduce_scatter ? static_cast<std::size_t>(rank) * call.count : 0;
  ort_train::dispatch(to_data_type(call.type), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) reduce<T>(call, brought, begin, static_cast<T*>(target));
  });
}

}  // namespace virtual_gpu
