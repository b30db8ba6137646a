#pragma once

#include <memory>

#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// Wraps the host kernel of kernels/ for this node: row-major in and out. Throws when there is none.
std::unique_ptr<Kernel> make_plain_kernel(const Request& request);

}  // namespace ort_train::runtime::cpu
