#pragma once

#include "runtime/cpu/program.h"

namespace ort_train::runtime::cpu {

/// Adds an instruction "<operator> (wait)" for every collective, right before the first instruction that reads what it
/// delivers, or at the end of the program: what stands between runs while the replicas communicate. The wait reads all
/// arrays that the collective works on, so that the memory plan keeps them until then.
void insert_waits(Program& program);

}  // namespace ort_train::runtime::cpu
