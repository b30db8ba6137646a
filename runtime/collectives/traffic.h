#pragma once

#include "runtime/collectives/collective.h"
#include "runtime/collectives/layout.h"
#include "runtime/collectives/operation.h"

namespace ort_train::runtime {

/// What one operation adds to the statistics of replica `rank`, known from the layout alone. The first replica of a
/// process sends for all of them.
Collective::Statistics traffic_of(const Operation& operation, const Layout& layout, int rank);

/// What several operations add: sums, and the most memory that one of them needs.
Collective::Statistics& operator+=(Collective::Statistics& sum, const Collective::Statistics& more);

}  // namespace ort_train::runtime
