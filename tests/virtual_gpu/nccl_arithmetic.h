#pragma once

#include <nccl.h>

#include <cstddef>
#include <vector>

#include "tests/virtual_gpu/nccl_board.h"

namespace virtual_gpu {

enum class Collective { all_reduce, broadcast, reduce, reduce_scatter, all_gather };

/// As NCCL calls it; lives as long as the program.
const char* name_of(Collective kind);

/// 0: a type or an operation that is not known.
std::size_t element_bytes(ncclDataType_t type);
bool is_known(ncclRedOp_t operation);

/// Bytes that a rank reads and writes. A rank that is not the root of a broadcast reads nothing, one that is not the
/// root of a reduction writes nothing.
std::size_t source_bytes(const Board::Call& call, int ranks, int rank);
std::size_t target_bytes(const Board::Call& call, int ranks, int rank);

/// What `rank` gets, of what all ranks brought. Sums go from rank 0 on, so all get the same bits; 16-bit floats are
/// combined in float and rounded once.
void combine(const Board::Call& call, const std::vector<std::vector<std::byte>>& brought, int rank, void* target);

}  // namespace virtual_gpu
