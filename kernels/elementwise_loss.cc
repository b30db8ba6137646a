#include "kernels/elementwise.h"
#include "kernels/functors/losses.h"

// Losses of predictions with a target each. Each gives a sum and a count, both scalars of the type of the predictions.
namespace ort_train::kernels {

namespace {

void check_same_extents(const Tensor& predictions, const Tensor& targets) {
  if (predictions.dims() == targets.dims()) return;
  fail("predictions of shape ", to_string(predictions.dims()), " do not go with targets of shape ",
       to_string(targets.dims()), "; both must have one shape");
}

/// Sum and number of `term(prediction, target)`.
template <typename Term>
void write_sum_and_count(Invocation& call, const Term& term) {
  const Tensor& predictions = call.inputs.at(0);
  const Tensor& targets = call.inputs.at(1);
  check_same_extents(predictions, targets);
  dispatch_floating(predictions.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = predictions.data<T>();
    const T* t = targets.data<T>();
    if (wants_output(call, 0)) {
      const double sum = parallel_sum(predictions.size(), [&](std::int64_t i) { return term(p[i], t[i]); });
      *output(call, 0, predictions.dtype(), {}).template data<T>() = static_cast<T>(sum);
    }
    if (wants_output(call, 1)) {
      *output(call, 1, predictions.dtype(), {}).template data<T>() = static_cast<T>(predictions.size());
    }
  });
}

template <typename Loss>
void compute_loss(Invocation& call) {
  write_sum_and_count(call, Loss{});
}

/// Inputs: the gradient of the sum, predictions, targets.
template <typename Derivative>
void compute_gradient(Invocation& call) {
  const Tensor& sum_gradient = call.inputs.at(0);
  const Tensor& predictions = call.inputs.at(1);
  const Tensor& targets = call.inputs.at(2);
  check_same_extents(predictions, targets);
  dispatch_floating(predictions.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T scale = *sum_gradient.data<T>();
    map_binary<T, T, T>(predictions, targets, output(call, 0, predictions.dtype(), predictions.dims()),
                        [scale](T prediction, T target) { return scale * Derivative{}(prediction, target); });
  });
}

/// The share of predictions on the same side of the threshold as their target is of 0.5.
void compute_threshold_correct(Invocation& call) {
  const double threshold = call.node.real("threshold", 0.5f);
  write_sum_and_count(call, [threshold](auto prediction, auto target) {
    return prediction == prediction && (prediction > threshold) == (target > 0.5) ? 1.0 : 0.0;
  });
}

const TrainingRegistration registrations[] = {
    {"SquaredError", compute_loss<functors::SquaredError>},
    {"SquaredErrorGrad", compute_gradient<functors::SquaredErrorDerivative>},
    {"AbsoluteError", compute_loss<functors::AbsoluteError>},
    {"AbsoluteErrorGrad", compute_gradient<functors::AbsoluteErrorDerivative>},
    {"BinaryCrossEntropy", compute_loss<functors::BinaryCrossEntropy>},
    {"BinaryCrossEntropyGrad", compute_gradient<functors::BinaryCrossEntropyDerivative>},
    {"BinaryCrossEntropyWithLogits", compute_loss<functors::BinaryCrossEntropyWithLogits>},
    {"BinaryCrossEntropyWithLogitsGrad", compute_gradient<functors::BinaryCrossEntropyWithLogitsDerivative>},
    {"ThresholdCorrect", compute_threshold_correct},
};

}  // namespace

}  // namespace ort_train::kernels
