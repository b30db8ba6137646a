#include "kernels/class_labels.h"
#include "kernels/elementwise.h"

namespace ort_train::kernels {

namespace {

/// Whether fewer than k classes stand in front of the label's: a higher score or an equal one of a lower class. NaN
/// stands in front of everything, and is never right itself.
template <typename T>
bool is_among_top(const T* scores, std::int64_t stride, std::int64_t classes, std::int64_t label, std::int64_t k) {
  const T own = scores[label * stride];
  if (own != own) return false;
  std::int64_t rank = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const T other = scores[c * stride];
    if (other > own || other != other || (other == own && c < label)) ++rank;
  }
  return rank < k;
}

void compute_top_k_correct(Invocation& call) {
  const Tensor& scores = call.inputs.at(0);
  const ClassLabels labels(call, scores, call.inputs.at(1));
  const std::int64_t k = call.node.integer("k", 1);
  if (k < 1) fail("k is ", k, "; it must be at least 1");
  dispatch_floating(scores.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = scores.data<T>();
    std::int64_t correct = 0;
    for (std::int64_t i = 0; i < labels.positions(); ++i) {
      if (labels.label(i) < 0) continue;
      const AxisView& view = labels.view();
      correct += is_among_top(source + labels.offset(i), view.inner, view.extent, labels.label(i), k);
    }
    if (wants_output(call, 0)) *output(call, 0, scores.dtype(), {}).template data<T>() = static_cast<T>(correct);
    if (wants_output(call, 1)) *output(call, 1, scores.dtype(), {}).template data<T>() = static_cast<T>(labels.count());
  });
}

const TrainingRegistration registration("TopKCorrect", compute_top_k_correct);

}  // namespace

}  // namespace ort_train::kernels
