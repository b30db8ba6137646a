// Random numbers that belong to (seed, stream, step, row, element).
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_training_dropout(onnx::InferenceContext& context) {
  same_as_input(context, 0, 0);
  if (context.getNumOutputs() < 2) return;
  same_as_input(context, 0, 1);
  context.getOutputType(1)->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
}

void infer_random_values(onnx::InferenceContext& context) {
  auto* type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(static_cast<std::int32_t>(integer_of(context, "dtype")));
  if (context.hasInput(0)) {
    const auto& like = context.getInputType(0)->tensor_type();
    if (like.has_shape()) *type->mutable_shape() = like.shape();
    return;
  }
  type->mutable_shape()->clear_dim();
  const onnx::AttributeProto* shape = context.getAttribute("shape");
  if (shape == nullptr) return;
  for (const std::int64_t extent : shape->ints()) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

void register_random_schemas() {
  TrainingSchema(
      "TrainingDropout",
      "Dropout whose mask is a function of (seed, stream, step, row, element), so that it does not depend on how "
      "the batch is split. Rows are counted along axis 0 from first_sample. Where the batch lies along another "
      "axis, `split_axis` names it, `split_extent` is its extent before the batch was split, and first_sample "
      "is the place of its first index there.")
      .in("X")
      .in("step", "tensor(int64)")
      .in("first_sample", "tensor(int64)")
      .out("Y")
      .optional_out("mask", "tensor(bool)")
      .real("ratio", 0.5F)
      .integer("seed", 0)
      .integer("stream", 0)
      .integer("split_axis", 0)
      .integer("split_extent", 0)
      .infer(infer_training_dropout);
  TrainingSchema("DropoutGrad", "Gradient of TrainingDropout.")
      .in("dY")
      .in("mask", "tensor(bool)")
      .out("dX")
      .real("ratio", 0.5F)
      .infer(infer_same_as_first);
  TrainingSchema("RandomValues",
                 "Random numbers, each a function of (seed, stream, step, row, element); rows, split_axis and "
                 "split_extent as in TrainingDropout. The extents are those of X, whose elements are not read, or, "
                 "without X, `shape`. Distributions: uniform (from low to high), normal (mean, scale), gumbel.")
      .optional_in("X", "A")
      .any_type("A")
      .in("step", "tensor(int64)")
      .in("first_sample", "tensor(int64)")
      .out("Y")
      .string("distribution", "uniform")
      .required_integer("dtype")
      .integers("shape", false)
      .real("mean", 0)
      .real("scale", 1)
      .real("low", 0)
      .real("high", 1)
      .integer("seed", 0)
      .integer("stream", 0)
      .integer("split_axis", 0)
      .integer("split_extent", 0)
      .infer(infer_random_values);
}

}  // namespace ort_train::graph
