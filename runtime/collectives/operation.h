#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/data_type.h"

namespace ort_train::runtime {

enum class OperationKind : std::int32_t { all_reduce, broadcast, reduce_scatter, all_gather, barrier };

/// One call of a Collective, as its communication thread carries it out.
struct Operation {
  OperationKind kind = OperationKind::barrier;
  DataType dtype = DataType::undefined;
  std::size_t count = 0;  ///< elements; of one part for reduce_scatter and all_gather
  int root = 0;           ///< of a broadcast
  const void* input = nullptr;
  void* output = nullptr;  ///< the same memory as `input` for all_reduce and broadcast
};

/// Whether the two are one collective operation: everything but the memory is equal.
bool same_call(const Operation& a, const Operation& b);

/// "all_reduce of 10 float32 elements", ...
std::string describe(const Operation& operation);

/// Throws unless `operation` is possible among `replicas`: a type of fixed size, one with a sum where there is one to
/// take, a root that exists.
void check_operation(const Operation& operation, int replicas);

}  // namespace ort_train::runtime
