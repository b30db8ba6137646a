// Pictures on their way from the data to the model.
#include "graph/training_schemas/shape_functions.h"
#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

namespace {

void infer_render_images(onnx::InferenceContext& context) {
  auto* type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  const onnx::TypeProto* input = context.getInputType(0);
  if (input == nullptr || !input->tensor_type().has_shape()) return;
  *type->mutable_shape() = input->tensor_type().shape();
  if (type->shape().dim_size() != 4) fail_shape_inference("images [N,C,height,width] were expected");
  const auto set_extent = [&](int axis, const char* attribute) {
    if (context.getAttribute(attribute) == nullptr) return;
    type->mutable_shape()->mutable_dim(axis)->set_dim_value(integer_of(context, attribute));
  };
  set_extent(2, "height");
  set_extent(3, "width");
}

}  // namespace

void register_image_schemas() {
  TrainingSchema("RenderImages",
                 "Shows every image [N,C,height,width] of X at a place of its own: moved by fractions of a pixel, "
                 "mirrored, cut to another size. Row n of `placement` [N,4] holds down, right, mirrored left to right "
                 "(0 or 1), mirrored top to bottom (0 or 1): pixel (y, x) of Y, before it is mirrored, shows X at "
                 "(y + down, x + right), bilinearly interpolated. What lies beyond the edge is as `fill` says.")
      .pixels()
      .in("placement", "tensor(float)")
      .out("Y", "tensor(float)")
      .optional_integer("height")
      .optional_integer("width")
      .string("fill", "nearest")
      .real("fill_value", 0)
      .infer(infer_render_images);
}

}  // namespace ort_train::graph
