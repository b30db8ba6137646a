#pragma once

#include <memory>

#include "runtime/executable.h"

namespace ort_train::runtime {

/// GPU number `index` of this machine, counted as CUDA_VISIBLE_DEVICES leaves them. Throws (usage) when the program was
/// built without CUDA or the machine has no such GPU; the message names the CPU alternative.
std::unique_ptr<Device> make_cuda_device(int index);

}  // namespace ort_train::runtime
