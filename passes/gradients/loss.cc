// Gradients of the losses' sums. The number of counted elements beside them is constant.

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

Attributes ignored_label(const graph::Node& node) {
  Attributes attributes;
  if (node.has("ignore_index")) attributes["ignore_index"] = node.integer("ignore_index", 0);
  return attributes;
}

void softmax_cross_entropy_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* log_probabilities = context.output(2);
  if (log_probabilities == nullptr) {
    fail(describe(context.node()), ": its gradient reads the log-probabilities, but the node does not give them");
  }
  Value* from_sum = nullptr;
  if (Value* gradient = context.output_gradient(0)) {
    from_sum = builder.emit_training("SoftmaxCrossEntropyGrad", {gradient, log_probabilities, context.input(1)},
                                     ignored_label(context.node()));
  }
  Value* from_log_probabilities = nullptr;
  if (Value* gradient = context.output_gradient(2)) {
    from_log_probabilities =
        builder.emit_training("LogSoftmaxGrad", {gradient, log_probabilities}, {{"axis", std::int64_t{1}}});
  }
  Value* either = from_sum ? from_sum : from_log_probabilities;
  context.set(0, from_sum && from_log_probabilities ? builder.add(from_sum, from_log_probabilities) : either);
}

void negative_log_likelihood_gradient(GradientContext& context) {
  context.set(0, context.builder().emit_training("NegativeLogLikelihoodGrad",
                                                 {context.output_gradient(), context.input(0), context.input(1)},
                                                 ignored_label(context.node())));
}

/// The gradient of the prediction, by the loss's own gradient operator.
Value* gradient_of_prediction(GradientContext& context) {
  return context.builder().emit_training(context.node().op_type() + "Grad",
                                         {context.output_gradient(), context.input(0), context.input(1)});
}

/// Losses of the difference y - t: the target's gradient is the negative of the prediction's.
void difference_gradient(GradientContext& context) {
  Value* of_prediction = gradient_of_prediction(context);
  context.set(0, of_prediction);
  if (context.needs(1)) context.set(1, context.builder().neg(of_prediction));
}

/// max(log p, -100), as the loss has it.
Value* clamped_log(Builder& builder, Value* probability) {
  return builder.emit("Max", {builder.emit("Log", {probability}), builder.scalar_like(-100, probability)});
}

/// loss = -(t log p + (1 - t) log(1 - p)): dt = log(1 - p) - log p.
void binary_cross_entropy_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  Value* p = context.input(0);
  if (context.needs(0)) context.set(0, gradient_of_prediction(context));
  if (context.needs(1)) {
    Value* difference = builder.sub(clamped_log(builder, one_minus(builder, p)), clamped_log(builder, p));
    context.set(1, builder.mul(context.output_gradient(), difference));
  }
}

/// With p = sigmoid(y), log(1 - p) - log p = -y.
void binary_cross_entropy_with_logits_gradient(GradientContext& context) {
  Builder& builder = context.builder();
  if (context.needs(0)) context.set(0, gradient_of_prediction(context));
  if (context.needs(1)) context.set(1, builder.mul(builder.neg(context.output_gradient()), context.input(0)));
}

const GradientRegistration softmax_rule("SoftmaxCrossEntropy", softmax_cross_entropy_gradient, graph::training_domain);
const GradientRegistration likelihood_rule("NegativeLogLikelihood", negative_log_likelihood_gradient,
                                           graph::training_domain);
const GradientRegistration binary_rule("BinaryCrossEntropy", binary_cross_entropy_gradient, graph::training_domain);
const GradientRegistration logits_rule("BinaryCrossEntropyWithLogits", binary_cross_entropy_with_logits_gradient,
                                       graph::training_domain);
const GradientRegistration squared_rule("SquaredError", difference_gradient, graph::training_domain);
const GradientRegistration absolute_rule("AbsoluteError", difference_gradient, graph::training_domain);

const ConstantOutput count({"SoftmaxCrossEntropy", "NegativeLogLikelihood", "BinaryCrossEntropy",
                            "BinaryCrossEntropyWithLogits", "SquaredError", "AbsoluteError"},
                           1, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
