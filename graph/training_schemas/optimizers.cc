// Updates of parameters and their slots.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_sgd(onnx::InferenceContext& context) {
  same_as_input(context, 0, 0);
  same_as_input(context, 3, 1);
}

void infer_adam(onnx::InferenceContext& context) {
  same_as_input(context, 0, 0);
  same_as_input(context, 4, 1);
  same_as_input(context, 5, 2);
}

}  // namespace

void register_optimizer_schemas() {
  TrainingSchema("SgdUpdate", "One step of stochastic gradient descent; the momentum buffer starts at zero.")
      .in("w")
      .in("g")
      .in("learning_rate", "tensor(float)")
      .optional_in("momentum_buffer")
      .out("new_w")
      .optional_out("new_momentum_buffer")
      .real("momentum", 0)
      .integer("nesterov", 0)
      .real("weight_decay", 0)
      .infer(infer_sgd);
  TrainingSchema("AdamUpdate",
                 "One step of Adam (Kingma and Ba 2015) or, decoupled, AdamW (Loshchilov and Hutter 2019).")
      .in("w")
      .in("g")
      .in("learning_rate", "tensor(float)")
      .in("step", "tensor(int64)")
      .in("m")
      .in("v")
      .out("new_w")
      .out("new_m")
      .out("new_v")
      .real("beta1", 0.9F)
      .real("beta2", 0.999F)
      .real("epsilon", 1e-8F)
      .real("weight_decay", 0)
      .integer("decoupled", 0)
      .infer(infer_adam);
}

}  // namespace ort_train::graph
