#pragma once

#include <string>

#include "passes/pass.h"

namespace ort_train::tests {

/// Runs `pass` on the graph written in `before` and compares the result, printed, with the graph written in `after`
/// (ONNX text; the header `<...>` may be left out and is not compared). Also checks what the pass says of having
/// changed something, and that the result verifies. Roles: floating-point initializers are trainable parameters.
void check_pass(passes::Pass& pass, const std::string& before, const std::string& after);

/// The pass must leave the graph alone and say so.
void check_unchanged(passes::Pass& pass, const std::string& text);

/// The text of a graph under this project's newest opset, with a header where `body` has none.
std::string with_header(const std::string& body);

/// The body of a printed graph, without the header.
std::string body_of(const graph::Graph& graph);

}  // namespace ort_train::tests
