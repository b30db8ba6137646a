#pragma once

#include <memory>

#include "base/tensor.h"
#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

/// False for two blocked formats in which oneDNN sees different extents; the way between them is by the plain format.
bool can_reorder(const Format& from, const Format& to);

/// Copies an array from one format into another, at once. One of them is plain, or `can_reorder` holds.
void convert(const Format& from, const std::byte* source, const Format& to, std::byte* target);

/// The same as an instruction with one input and one output.
std::unique_ptr<Kernel> make_reorder(const Context& context, const Format& from, const Format& to);

}  // namespace ort_train::runtime::cpu
