#include <algorithm>

#include "base/dispatch.h"
#include "kernels/arguments.h"

namespace ort_train::kernels {

namespace {

/// Labels other than `ignore_index`; all of them where the node has none.
std::int64_t count_labels(const graph::Node& node, const Tensor& labels) {
  if (!node.has("ignore_index")) return labels.size();
  const std::int64_t ignored = node.integer("ignore_index", 0);
  return dispatch_integer(labels.dtype(), [&](auto tag) {
    const auto values = labels.values<typename decltype(tag)::type>();
    return static_cast<std::int64_t>(std::count_if(
        values.begin(), values.end(), [ignored](auto label) { return static_cast<std::int64_t>(label) != ignored; }));
  });
}

void compute_label_count(Invocation& call) {
  const std::int64_t count = count_labels(call.node, call.inputs.at(0));
  const auto dtype = static_cast<DataType>(call.node.integer("to", 0));
  dispatch_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *output(call, 0, dtype, {}).template data<T>() = static_cast<T>(count);
  });
}

const TrainingRegistration registration("LabelCount", compute_label_count);

}  // namespace

}  // namespace ort_train::kernels
