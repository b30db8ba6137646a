#pragma once

#include <cstdint>
#include <string>

#include "onnx/defs/schema.h"
#include "onnx/defs/shape_inference.h"

// What outputs look like, in terms of the inputs. The type of an input is missing when it is the output of an operator
// that nobody knows; then, and where the node leaves the output out, nothing is said.
namespace ort_train::graph {

/// Type and extents of an input.
void same_as_input(onnx::InferenceContext& context, std::size_t input, std::size_t output);
/// The element type alone.
void element_type_of_input(onnx::InferenceContext& context, std::size_t input, std::size_t output);
/// A scalar of the element type of an input.
void scalar_like_input(onnx::InferenceContext& context, std::size_t input, std::size_t output);
/// The extents stand in an attribute, the element type is that of input 0.
void shape_from_attribute(onnx::InferenceContext& context, const std::string& attribute, std::size_t output);
/// Output 0 has the extents of the attribute `input_shape`.
void infer_input_shape_attribute(onnx::InferenceContext& context);
/// Output 0 is like input 0.
void infer_same_as_first(onnx::InferenceContext& context);
/// Output 0 is like input 1.
void infer_same_as_second(onnx::InferenceContext& context);
/// The attribute, 0 where it is absent.
std::int64_t integer_of(onnx::InferenceContext& context, const std::string& attribute);

}  // namespace ort_train::graph
