#include "runtime/collectives/operation.h"

#include "base/error.h"
#include "runtime/collectives/sum.h"

namespace ort_train::runtime {

bool same_call(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.count == b.count && a.root == b.root;
}

std::string describe(const Operation& operation) {
  const std::string elements = text(operation.count, " ", name_of(operation.dtype), " elements");
  switch (operation.kind) {
    case OperationKind::all_reduce: return "all_reduce of " + elements;
    case OperationKind::broadcast: return text("broadcast of ", elements, " from replica ", operation.root);
    case OperationKind::reduce_scatter: return "reduce_scatter into parts of " + elements;
    case OperationKind::all_gather: return "all_gather of parts of " + elements;
    case OperationKind::barrier: return "barrier";
  }
  return text("operation ", static_cast<int>(operation.kind));
}

void check_operation(const Operation& operation, int replicas) {
  if (operation.kind == OperationKind::barrier) return;
  size_of(operation.dtype);
  const bool sums = operation.kind == OperationKind::all_reduce || operation.kind == OperationKind::reduce_scatter;
  if (sums && !has_sum(operation.dtype)) {
    fail("replicas cannot take the sum of ", name_of(operation.dtype), " elements (", describe(operation),
         "); floating-point types, int64 and int32 have one");
  }
  if (operation.root < 0 || operation.root >= replicas) {
    fail(describe(operation), ": there are only replicas 0 to ", replicas - 1);
  }
}

}  // namespace ort_train::runtime
