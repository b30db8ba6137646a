#pragma once

#include "passes/prepare_inputs.h"
#include "runtime/data/input_transform.h"

namespace ort_train::training {

/// What the loader would do with the samples of an input, for the graph to do.
passes::InputPreparation preparation_of(const data::InputTransform& transform);

}  // namespace ort_train::training
