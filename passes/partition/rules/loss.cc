// Losses and metrics: a sum and a count over the samples, and the gradients of the sums.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

constexpr std::int64_t class_axis = 1;

/// Labels [N, ...] of scores [N, classes, ...].
Sharding labels_of(const PartitionContext& context, const Sharding& scores) {
  refuse_along(context, scores, {class_axis});
  return scores.at_axis(scores.axis < class_axis ? scores.axis : scores.axis - 1);
}

void need_scores(PartitionContext& context, int scores) {
  if (!context.input(scores).is_sharded()) {
    context.refuse(text("'", context.node().input(scores)->name(), "' has nothing of its own for each sample"));
  }
}

/// (scores, labels) -> sum, count, and what else there is of each score.
void class_loss_rule(PartitionContext& context) {
  need_scores(context, 0);
  context.need(1, labels_of(context, context.input(0)));
  context.give_all(context.input(0));
  context.give(0, Sharding::partial());
  context.give(1, Sharding::partial());
}

/// (dSum, scores, labels) -> dScores.
void class_gradient_rule(PartitionContext& context) {
  need_scores(context, 1);
  context.need_replicated(0);
  context.need(2, labels_of(context, context.input(1)));
  context.give(0, context.input(1));
}

/// (predictions, targets) -> sum, count.
void element_loss_rule(PartitionContext& context) {
  need_scores(context, 0);
  context.need(1, context.input(0));
  context.give_all(Sharding::partial());
}

void element_gradient_rule(PartitionContext& context) {
  need_scores(context, 1);
  context.need_replicated(0);
  context.need(2, context.input(1));
  context.give(0, context.input(1));
}

void label_count_rule(PartitionContext& context) { context.give(0, Sharding::partial()); }

constexpr std::string_view training = graph::training_domain;

const PartitionRegistration class_losses({"SoftmaxCrossEntropy", "NegativeLogLikelihood", "TopKCorrect"},
                                         class_loss_rule, training);
const PartitionRegistration class_gradients({"SoftmaxCrossEntropyGrad", "NegativeLogLikelihoodGrad"},
                                            class_gradient_rule, training);
const PartitionRegistration element_losses({"BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "SquaredError",
                                            "AbsoluteError", "ThresholdCorrect"},
                                           element_loss_rule, training);
const PartitionRegistration element_gradients({"BinaryCrossEntropyGrad", "BinaryCrossEntropyWithLogitsGrad",
                                               "SquaredErrorGrad", "AbsoluteErrorGrad"},
                                              element_gradient_rule, training);
const PartitionRegistration label_count({"LabelCount"}, label_count_rule, training);

}  // namespace
}  // namespace ort_train::passes
