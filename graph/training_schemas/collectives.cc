// What replicas do together.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_same_as_inputs(onnx::InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) same_as_input(context, output, output);
}

/// The elements of an input, cut into equal parts.
void part_of_input(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  const auto& type = context.getInputType(input)->tensor_type();
  const std::int64_t parts = integer_of(context, "parts");
  if (parts < 1) fail_shape_inference("parts must be at least 1");
  auto* extent = context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->add_dim();
  if (!type.has_shape()) return;
  std::int64_t count = 1;
  for (const auto& dim : type.shape().dim()) {
    if (!dim.has_dim_value()) return;
    count *= dim.dim_value();
  }
  extent->set_dim_value((count + parts - 1) / parts);
}

void infer_parts_of_inputs(onnx::InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) part_of_input(context, output, output);
}

/// The shapes of all outputs stand in two lists: how many extents each has, and the extents one after the other.
void infer_shape_list(onnx::InferenceContext& context) {
  const onnx::AttributeProto* ranks = context.getAttribute("ranks");
  const onnx::AttributeProto* extents = context.getAttribute("extents");
  if (ranks == nullptr) return;
  int next = 0;
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) {
    if (!context.hasInput(output) || static_cast<int>(output) >= ranks->ints_size()) return;
    element_type_of_input(context, output, output);
    auto* shape = context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
    for (std::int64_t axis = 0; axis < ranks->ints(static_cast<int>(output)); ++axis) {
      if (extents == nullptr || next >= extents->ints_size()) fail_shape_inference("'extents' is too short");
      shape->add_dim()->set_dim_value(extents->ints(next++));
    }
  }
}

}  // namespace

// `ready`, `needed` and `readers` are for the passes that join or replace collectives, and the same on every replica:
// the places, in the order of the undivided graph, of the node that gives the operand and of the first one that reads
// the result, and how many read it there.
void register_collective_schemas() {
  TrainingSchema("AllReduce", "The sum of each operand over all replicas.")
      .sums()
      .variadic("operands", "sums", "S")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .infer(infer_same_as_inputs);
  TrainingSchema("ReduceScatter",
                 "Of the sum of each operand over all replicas, the part that belongs to this one: the elements in "
                 "row-major order, filled up with zeros, in `parts` equal parts.")
      .variadic("operands", "part_sums")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .required_integer("parts")
      .infer(infer_parts_of_inputs);
  TrainingSchema(
      "AllGather",
      "Whole arrays from the parts that the replicas have, the inverse of FlatPart. `ranks` holds the number "
      "of extents of each array, `extents` all extents one after the other.")
      .variadic("parts", "wholes")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .integers("ranks", true)
      .integers("extents", false)
      .infer(infer_shape_list);
  TrainingSchema("FlatPart", "Part `index` of the elements in row-major order, filled up with zeros, in equal parts.")
      .in("whole")
      .out("part")
      .required_integer("index")
      .required_integer("parts")
      .infer(infer_parts_of_inputs);
}

}  // namespace ort_train::graph
