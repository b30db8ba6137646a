#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "graph/graph.h"

namespace ort_train::graph {

/// Reads an ONNX file, external data included. Initializers become parameters (floating point) or constants (the
/// rest); none is trainable yet. Functions that the model carries are expanded. Throws an Error that names file, node
/// and reason: no ONNX, truncated, external data missing or too short, an opset that is too new, a graph that the ONNX
/// checker refuses.
std::unique_ptr<Graph> load(const std::filesystem::path& path);

/// The same from bytes; `folder` is where external data lies.
std::unique_ptr<Graph> parse_model(const std::string& bytes, const std::filesystem::path& folder = ".",
                                   const std::string& origin = "model");

/// The bytes of an ONNX ModelProto; equal graphs give equal bytes. Updates are written as TrainingInfoProto bindings.
std::string serialize_model(const Graph& graph);

/// Writes `serialize_model` atomically.
void save(const Graph& graph, const std::filesystem::path& path);

/// ONNX's textual syntax, through ONNX's own parser and printer: what pass tests are written in.
///     <ir_version: 10, opset_import: ["" : 21]>
///     name (float[N,4] x) => (float[N,2] y) <float[2,4] w = {...}> { y = Gemm<transB = 1>(x, w) }
std::unique_ptr<Graph> parse_text(const std::string& text);
std::string print_text(const Graph& graph);

}  // namespace ort_train::graph
