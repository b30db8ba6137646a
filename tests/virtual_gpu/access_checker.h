#pragma once

#include <string>

#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

/// A participant that does things one after the other: a stream, or the host. Its name is for reports.
int new_actor(const std::string& name);
inline constexpr int host_actor = 0;

/// Reports when the access of `actor`, which knows as much as its clock says, is not ordered after an earlier one that
/// it depends on: a read after a write, a write after a read or a write.
void check_order(const Access& access, int actor, const Clock& clock, const char* operation);

/// The memory goes; whoever gets it next has nothing to do with its past.
void forget_accesses(const void* memory, std::size_t bytes);

}  // namespace virtual_gpu
