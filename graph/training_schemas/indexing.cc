// Gradients of operators that pick elements.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

void register_indexing_schemas() {
  TrainingSchema("GatherGrad", "Gradient of Gather: rows added up at their indices.")
      .in("dY")
      .indices()
      .out("dX")
      .integer("axis", 0)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("SliceGrad", "Gradient of Slice: dY put into zeros.")
      .in("dY")
      .out("dX")
      .integers("input_shape", true)
      .integers("starts", true)
      .integers("ends", true)
      .integers("axes", true)
      .integers("steps", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("PadGrad", "Gradient of Pad for its data.")
      .in("dY")
      .out("dX")
      .string("mode", "constant")
      .integers("pads", true)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
}

}  // namespace ort_train::graph
