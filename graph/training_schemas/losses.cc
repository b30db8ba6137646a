// Losses and metrics: sums and counts over the batch.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_sum_and_count(onnx::InferenceContext& context) {
  scalar_like_input(context, 0, 0);
  scalar_like_input(context, 0, 1);
  same_as_input(context, 0, 2);
}

void infer_label_count(onnx::InferenceContext& context) {
  const onnx::AttributeProto* dtype = context.getAttribute("to");
  if (dtype == nullptr) return;
  auto* type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(static_cast<std::int32_t>(dtype->i()));
  type->mutable_shape()->clear_dim();
}

void register_losses() {
  TrainingSchema("SoftmaxCrossEntropy", "Sum over labelled elements of -log softmax(scores)[label], class axis 1.")
      .in("scores")
      .labels()
      .out("sum")
      .optional_out("count")
      .optional_out("log_probabilities")
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("SoftmaxCrossEntropyGrad", "Gradient of SoftmaxCrossEntropy's sum for the scores.")
      .in("dSum")
      .in("log_probabilities")
      .labels()
      .out("dScores")
      .optional_integer("ignore_index")
      .infer(infer_same_as_second);
  TrainingSchema("NegativeLogLikelihood", "Sum over labelled elements of -log_probabilities[label], class axis 1.")
      .in("log_probabilities")
      .labels()
      .out("sum")
      .optional_out("count")
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("NegativeLogLikelihoodGrad", "Gradient of NegativeLogLikelihood's sum.")
      .in("dSum")
      .in("log_probabilities")
      .labels()
      .out("dX")
      .optional_integer("ignore_index")
      .infer(infer_same_as_second);
  for (const char* name : {"BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "SquaredError", "AbsoluteError"}) {
    TrainingSchema(name, "Sum and number of the elementwise losses.")
        .in("predictions")
        .in("targets")
        .out("sum")
        .optional_out("count")
        .infer(infer_sum_and_count);
    TrainingSchema(std::string(name) + "Grad", "Gradient of the sum for the predictions.")
        .in("dSum")
        .in("predictions")
        .in("targets")
        .out("dX")
        .infer(infer_same_as_second);
  }
}

void register_metrics() {
  TrainingSchema("LabelCount", "Number of labels that count; `to` is the element type of the result.")
      .in("labels", "A")
      .out("count")
      .any_type("A")
      .optional_integer("ignore_index")
      .required_integer("to")
      .infer(infer_label_count);
  TrainingSchema("TopKCorrect", "Number of labels among the k best scores, and number of labels.")
      .in("scores")
      .labels()
      .out("sum")
      .out("count")
      .integer("k", 1)
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("ThresholdCorrect", "Number of predictions on the same side of the threshold as their target.")
      .in("predictions")
      .in("targets")
      .out("sum")
      .out("count")
      .real("threshold", 0.5F)
      .infer(infer_sum_and_count);
}

}  // namespace

void register_loss_and_metric_schemas() {
  register_losses();
  register_metrics();
}

}  // namespace ort_train::graph
