// Gradients of Softmax and LogSoftmax, from their outputs.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

void set_from_output(GradientContext& context, const std::string& gradient_operator) {
  context.set(0, context.builder().emit_training(gradient_operator, {context.output_gradient(), context.output()},
                                                 {{"axis", context.node().integer("axis", -1)}}));
}

void softmax_gradient(GradientContext& context) { set_from_output(context, "SoftmaxGrad"); }
void log_softmax_gradient(GradientContext& context) { set_from_output(context, "LogSoftmaxGrad"); }

const GradientRegistration softmax_rule("Softmax", softmax_gradient);
const GradientRegistration log_softmax_rule("LogSoftmax", log_softmax_gradient);

}  // namespace
}  // namespace ort_train::passes
