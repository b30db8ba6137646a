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

/// Asks for input `scores` with the samples where it has them, or, where every replica has it whole, as `labels` has
/// them, or along the first axis. Returns how it is then.
Sharding need_scores(PartitionContext& context, int scores, const Sharding& labels) {
  Sharding sharding = context.input(scores).is_sharded() ? context.input(scores) : labels;
  if (!sharding.is_sharded()) {
    const std::optional<Sharding> first = along_first_axis(context.input_dims(scores), context.samples());
    if (!first) {
      context.refuse(text("the first axis of '", context.node().input(scores)->name(), "' ",
                          to_string(context.input_dims(scores)), " does not count samples"));
    }
    sharding = *first;
  }
  context.need(scores, sharding);
  return sharding;
}

/// The place of the samples in scores [N, classes, ...] of labels [N, ...].
Sharding scores_of(const Sharding& labels) {
  return labels.is_sharded() && labels.axis >= class_axis ? labels.at_axis(labels.axis + 1) : labels;
}

/// (scores, labels) -> sum, count, and what else there is of each score.
void class_loss_rule(PartitionContext& context) {
  const Sharding scores = need_scores(context, 0, scores_of(context.input(1)));
  context.need(1, labels_of(context, scores));
  context.give_all(scores);
  context.give(0, Sharding::partial());
  context.give(1, Sharding::partial());
}

/// (dSum, scores, labels) -> dScores.
void class_gradient_rule(PartitionContext& context) {
  const Sharding scores = need_scores(context, 1, scores_of(context.input(2)));
  context.need_replicated(0);
  context.need(2, labels_of(context, scores));
  context.give(0, scores);
}

/// (predictions, targets) -> sum, count.
void element_loss_rule(PartitionContext& context) {
  context.need(1, need_scores(context, 0, context.input(1)));
  context.give_all(Sharding::partial());
}

void element_gradient_rule(PartitionContext& context) {
  const Sharding scores = need_scores(context, 1, context.input(2));
  context.need_replicated(0);
  context.need(2, scores);
  context.give(0, scores);
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
