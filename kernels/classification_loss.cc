#include "kernels/class_labels.h"
#include "kernels/elementwise.h"
#include "kernels/functors/losses.h"
#include "kernels/softmax.h"

// Losses of class scores. Each gives a sum and a count of positions, both scalars of the type of the scores.
namespace ort_train::kernels {

namespace {

template <typename T>
void write_sum_and_count(Invocation& call, double sum, std::int64_t count) {
  if (wants_output(call, 0)) *output(call, 0, data_type_of<T>(), {}).template data<T>() = static_cast<T>(sum);
  if (wants_output(call, 1)) *output(call, 1, data_type_of<T>(), {}).template data<T>() = static_cast<T>(count);
}

template <typename T>
double negative_log_likelihood(const T* log_probabilities, const ClassLabels& labels) {
  return parallel_sum(labels.positions(), [&](std::int64_t i) {
    const std::int64_t label = labels.label(i);
    return label < 0 ? 0.0 : -static_cast<double>(log_probabilities[labels.offset(i) + label * labels.view().inner]);
  });
}

void compute_negative_log_likelihood(Invocation& call) {
  const Tensor& log_probabilities = call.inputs.at(0);
  const ClassLabels labels(call, log_probabilities, call.inputs.at(1));
  dispatch_floating(log_probabilities.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    write_sum_and_count<T>(call, negative_log_likelihood(log_probabilities.data<T>(), labels), labels.count());
  });
}

void compute_softmax_cross_entropy(Invocation& call) {
  const Tensor& scores = call.inputs.at(0);
  const ClassLabels labels(call, scores, call.inputs.at(1));
  Tensor log_probabilities =
      wants_output(call, 2) ? output(call, 2, scores.dtype(), scores.dims()) : Tensor(scores.dtype(), scores.dims());
  dispatch_floating(scores.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    log_softmax(scores.data<T>(), labels.view(), log_probabilities.data<T>());
    write_sum_and_count<T>(call, negative_log_likelihood(log_probabilities.data<T>(), labels), labels.count());
  });
}

/// Writes `derivative(log_probability, is_label) * sum_gradient` for each class of each position, 0 where ignored.
template <typename T, typename Derivative>
void write_gradient(const T* log_probabilities, const ClassLabels& labels, T sum_gradient, T* out,
                    const Derivative& derivative) {
  const std::int64_t classes = labels.view().extent;
  const std::int64_t stride = labels.view().inner;
  parallel_for(labels.positions(), 1 + costly_grain / (1 + classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t label = labels.label(i);
      const std::int64_t offset = labels.offset(i);
      for (std::int64_t c = 0; c < classes; ++c) {
        const std::int64_t position = offset + c * stride;
        out[position] = label < 0 ? T(0) : sum_gradient * derivative(log_probabilities[position], c == label);
      }
    }
  });
}

/// Inputs: the gradient of the sum, log-probabilities, labels.
template <typename Derivative>
void compute_gradient(Invocation& call, const Derivative& derivative) {
  const Tensor& sum_gradient = call.inputs.at(0);
  const Tensor& log_probabilities = call.inputs.at(1);
  const ClassLabels labels(call, log_probabilities, call.inputs.at(2));
  dispatch_floating(log_probabilities.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor& out = output(call, 0, log_probabilities.dtype(), log_probabilities.dims());
    write_gradient(log_probabilities.data<T>(), labels, *sum_gradient.data<T>(), out.data<T>(), derivative);
  });
}

void compute_softmax_cross_entropy_gradient(Invocation& call) {
  compute_gradient(call, functors::SoftmaxCrossEntropyDerivative{});
}

void compute_negative_log_likelihood_gradient(Invocation& call) {
  compute_gradient(call, [](auto, bool is_label) { return is_label ? -1 : 0; });
}

const TrainingRegistration registrations[] = {
    {"SoftmaxCrossEntropy", compute_softmax_cross_entropy},
    {"SoftmaxCrossEntropyGrad", compute_softmax_cross_entropy_gradient},
    {"NegativeLogLikelihood", compute_negative_log_likelihood},
    {"NegativeLogLikelihoodGrad", compute_negative_log_likelihood_gradient},
};

}  // namespace

}  // namespace ort_train::kernels
