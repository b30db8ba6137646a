// Activations, in terms of their result.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

void register_activation_schemas() {
  for (const char* name : {"ReluGrad", "SigmoidGrad", "TanhGrad"}) {
    TrainingSchema(name, "Gradient in terms of the output Y.").in("dY").in("Y").out("dX").infer(infer_same_as_first);
  }
  for (const char* name : {"SoftmaxGrad", "LogSoftmaxGrad"}) {
    TrainingSchema(name, "Gradient in terms of the output Y.")
        .in("dY")
        .in("Y")
        .out("dX")
        .integer("axis", -1)
        .infer(infer_same_as_first);
  }
}

}  // namespace ort_train::graph
