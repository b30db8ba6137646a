#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cpu/program.h"
#include "runtime/executable.h"

namespace ort_train::runtime::cpu {

/// The memory of a program: one address for each array, and what keeps it alive.
struct Placement {
  std::vector<std::byte*> addresses;
  std::shared_ptr<std::byte> arena, scratchpad;
};

/// Decides which arrays share memory (views, outputs over inputs that nobody needs any more, operands of collectives
/// inside their bucket, updates straight into the state), plans the arena for the rest and allocates it. An update that
/// cannot be written in place becomes a copy at the end of `program`. `state` holds every state of the program. The
/// figures of the plan are added to `report`.
Placement place(Program& program, const CpuState& state, const Context& context, PlanReport& report);

}  // namespace ort_train::runtime::cpu
