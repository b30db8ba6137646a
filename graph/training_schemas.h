#pragma once

#include <string>
#include <vector>

namespace ort_train::graph {

/// Registers the operators of `training_domain` as ONNX schemas with type and shape inference, so that the checker,
/// shape inference, parser and printer of the ONNX library know them. Idempotent; `load`, `parse_text` and `Builder`
/// call it.
void register_training_schemas();

/// The names of those operators, sorted.
std::vector<std::string> training_operators();

}  // namespace ort_train::graph
