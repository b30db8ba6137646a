// Convolution and pooling.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_conv_grad_weight(onnx::InferenceContext& context) {
  shape_from_attribute(context, "weight_shape", 0);
  if (context.getNumOutputs() < 2 || !onnx::hasNInputShapes(context, 1)) return;
  const auto& output_gradient = context.getInputType(0)->tensor_type().shape();
  if (output_gradient.dim_size() < 2) fail_shape_inference("dY has no channel axis");
  element_type_of_input(context, 0, 1);
  *context.getOutputType(1)->mutable_tensor_type()->mutable_shape()->add_dim() = output_gradient.dim(1);
}

void register_convolution() {
  TrainingSchema("ConvGradInput", "Gradient of Conv for its input; also the forward of ConvTranspose.")
      .in("dY")
      .in("W")
      .out("dX")
      .window()
      .integer("group", 1)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("ConvGradWeight", "Gradient of Conv for its weight and, optionally, its bias.")
      .in("dY")
      .in("X")
      .out("dW")
      .optional_out("dB")
      .window()
      .integer("group", 1)
      .integers("weight_shape", true)
      .infer(infer_conv_grad_weight);
}

void register_pooling() {
  TrainingSchema("MaxPoolGrad", "Gradient of MaxPool; it goes to the first maximum of each window.")
      .in("dY")
      .in("X")
      .in("Y")
      .out("dX")
      .window()
      .integer("ceil_mode", 0)
      .integer("storage_order", 0)
      .infer(infer_same_as_second);
  TrainingSchema("AveragePoolGrad", "Gradient of AveragePool.")
      .in("dY")
      .out("dX")
      .window()
      .integer("ceil_mode", 0)
      .integer("count_include_pad", 0)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
}

}  // namespace

void register_convolution_schemas() {
  register_convolution();
  register_pooling();
}

}  // namespace ort_train::graph
