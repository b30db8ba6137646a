// Gradients of Dropout.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

/// The inference form passes its input through.
void dropout_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  const graph::Value* training = context.input(2);
  if (training != nullptr && (!training->is_initializer() || training->initial().to_doubles().front() != 0)) {
    fail(describe(node), ": Dropout must be in training form before gradients are built");
  }
  context.set(0, context.output_gradient());
}

void training_dropout_gradient(GradientContext& context) {
  graph::Node& node = context.node();
  // Cleaning up before autodiff may have taken away the mask that nothing read yet.
  if (context.output(1) == nullptr) {
    const graph::Type& type = node.output()->type();
    node.add_output(node.output()->name() + ".mask", graph::Type(DataType::boolean, *type.shape));
  }
  context.set(0, context.builder().emit_training("DropoutGrad", {context.output_gradient(), context.output(1)},
                                                 {{"ratio", node.real("ratio", 0.5f)}}));
}

const GradientRegistration dropout_rule("Dropout", dropout_gradient);
const GradientRegistration training_dropout_rule("TrainingDropout", training_dropout_gradient, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
