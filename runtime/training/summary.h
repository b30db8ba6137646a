#pragma once

#include <string>

#include "runtime/training/trainer.h"

namespace ort_train::training {

/// What a prepared run is about to do: layers with output shapes and parameter counts, trainable and frozen totals,
/// memory plan, samples, loss and optimizer. Several lines, each ended.
std::string summary(Trainer& trainer);

}  // namespace ort_train::training
