#include "graph/training_schemas/shape_functions.h"

namespace ort_train::graph {

void same_as_input(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  *context.getOutputType(output) = *context.getInputType(input);
}

void element_type_of_input(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  context.getOutputType(output)->mutable_tensor_type()->set_elem_type(
      context.getInputType(input)->tensor_type().elem_type());
}

void scalar_like_input(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->clear_dim();
}

void shape_from_attribute(onnx::InferenceContext& context, const std::string& attribute, std::size_t output) {
  const onnx::AttributeProto* extents = context.getAttribute(attribute);
  if (!context.hasInput(0) || extents == nullptr) return;
  element_type_of_input(context, 0, output);
  auto* shape = context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
  for (const std::int64_t extent : extents->ints()) shape->add_dim()->set_dim_value(extent);
}

void infer_input_shape_attribute(onnx::InferenceContext& context) { shape_from_attribute(context, "input_shape", 0); }

void infer_same_as_first(onnx::InferenceContext& context) { same_as_input(context, 0, 0); }

void infer_same_as_second(onnx::InferenceContext& context) { same_as_input(context, 1, 0); }

std::int64_t integer_of(onnx::InferenceContext& context, const std::string& attribute) {
  const onnx::AttributeProto* value = context.getAttribute(attribute);
  return value == nullptr ? 0 : value->i();
}

}  // namespace ort_train::graph
