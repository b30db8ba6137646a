#pragma once

#include <memory>

#include "base/tensor.h"
#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// Copies an array from one format into another, at once. Throws when it would have to convert elements.
void convert(const Format& from, const std::byte* source, const Format& to, std::byte* target);

/// The same as an instruction with one input and one output.
std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to);

}  // namespace ort_train::runtime::cpu
