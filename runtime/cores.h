#pragma once

namespace ort_train::runtime {

/// Cores that the process may use, at least 1; a container, a launcher or `taskset` may have taken some away.
int usable_cores();

}  // namespace ort_train::runtime
