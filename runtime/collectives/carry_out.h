#pragma once

#include "runtime/collectives/local_group.h"
#include "runtime/collectives/operation.h"

namespace ort_train::runtime {

/// The part of local replica `local` in an operation: its own slice of the sums and copies, and for the first one also
/// what goes on between the processes. Returns when nobody uses the memory of the operation any more.
void carry_out(LocalGroup& group, int local, const Operation& operation);

}  // namespace ort_train::runtime
