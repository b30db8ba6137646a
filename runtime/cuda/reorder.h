#pragma once

#include <memory>

#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// Copies an array from one format into another on the compute stream: an instruction with one input and one output.
std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to);

/// The same on the host, at once.
Tensor reordered(const Tensor& elements, const Format& from, const Format& to);

}  // namespace ort_train::runtime::cuda
