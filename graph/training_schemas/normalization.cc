// Normalization.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_batch_normalization_training(onnx::InferenceContext& context) {
  same_as_input(context, 0, 0);
  for (std::size_t output = 1; output < context.getNumOutputs(); ++output) same_as_input(context, 3, output);
}

void infer_normalization_grad(onnx::InferenceContext& context) {
  same_as_input(context, 1, 0);
  same_as_input(context, 2, 1);
  same_as_input(context, 2, 2);
}

void channels_of_input(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  const auto& type = context.getInputType(input)->tensor_type();
  if (!type.has_shape()) return;
  if (type.shape().dim_size() < 2) fail_shape_inference("the input has no channel axis");
  *context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->add_dim() = type.shape().dim(1);
}

void infer_channels(onnx::InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) channels_of_input(context, 0, output);
}

}  // namespace

void register_normalization_schemas() {
  TrainingSchema("BatchNormalizationTraining",
                 "BatchNormalization by batch statistics (population variance), which are also outputs. With "
                 "activation Relu, Y is max(0, y).")
      .in("X")
      .in("scale")
      .in("B")
      .in("running_mean")
      .in("running_var")
      .out("Y")
      .optional_out("new_running_mean")
      .optional_out("new_running_var")
      .optional_out("batch_mean")
      .optional_out("batch_var")
      .real("epsilon", 1e-5F)
      .real("momentum", 0.9F)
      .string("activation", "")
      .infer(infer_batch_normalization_training);
  TrainingSchema("BatchNormalizationGrad",
                 "Gradient of BatchNormalizationTraining. With activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("batch_mean")
      .in("batch_var")
      .optional_in("Y")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .real("epsilon", 1e-5F)
      .string("activation", "")
      .infer(infer_normalization_grad);
  TrainingSchema("ChannelSum", "Sum over every axis but the channel axis 1.").in("X").out("sum").infer(infer_channels);
  TrainingSchema("ChannelSquaredDeviation", "Sum of (X - mean)^2 over every axis but the channel axis 1.")
      .in("X")
      .in("mean")
      .out("sum")
      .infer(infer_channels);
  TrainingSchema("BatchNormalizationGradSums",
                 "Those parts of the gradient of BatchNormalizationTraining that are sums over the batch: with "
                 "x^ = (X - batch_mean) / sqrt(batch_var + epsilon), dScale = sum of dY x^ and dB = sum of dY. With "
                 "activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("batch_mean")
      .in("batch_var")
      .optional_in("Y")
      .out("dScale")
      .out("dB")
      .real("epsilon", 1e-5F)
      .string("activation", "")
      .infer(infer_channels);
  TrainingSchema(
      "BatchNormalizationGradInput",
      "Gradient of BatchNormalizationTraining for X, from the sums over the batch: dX = scale / "
      "sqrt(batch_var + epsilon) (dY - dB / count - x^ dScale / count), where count is the number of elements "
      "a channel of the batch. With activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("batch_mean")
      .in("batch_var")
      .in("dScale")
      .in("dB")
      .optional_in("Y")
      .out("dX")
      .real("epsilon", 1e-5F)
      .required_integer("count")
      .string("activation", "")
      .infer(infer_same_as_second);
  TrainingSchema("LayerNormalizationGrad", "Gradient of LayerNormalization.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("mean")
      .in("inv_std_dev")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .integer("axis", -1)
      .infer(infer_normalization_grad);
  TrainingSchema("InstanceNormalizationGrad", "Gradient of InstanceNormalization.")
      .in("dY")
      .in("X")
      .in("scale")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .real("epsilon", 1e-5F)
      .infer(infer_normalization_grad);
  TrainingSchema("LRNGrad", "Gradient of LRN.")
      .in("dY")
      .in("X")
      .in("Y")
      .out("dX")
      .real("alpha", 0.0001F)
      .real("beta", 0.75F)
      .real("bias", 1.0F)
      .integer("size", 1)
      .infer(infer_same_as_second);
}

}  // namespace ort_train::graph
