#include "kernels/class_labels.h"

namespace ort_train::kernels {

namespace {

/// "[2,0,5]": indices of an element of an array of the given extents.
std::string indices_of(std::int64_t element, const Dims& dims) {
  Dims indices(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    indices[i] = element % dims[i];
    element /= dims[i];
  }
  return to_string(indices);
}

}  // namespace

ClassLabels::ClassLabels(const Invocation& call, const Tensor& scores, const Tensor& labels) {
  Dims expected = scores.dims();
  if (expected.size() >= 2) expected.erase(expected.begin() + 1);
  if (scores.rank() < 2 || labels.dims() != expected) {
    fail("scores of shape ", to_string(scores.dims()), " do not go with labels of shape ", to_string(labels.dims()),
         "; they must be [N,C,d1,...] and [N,d1,...]");
  }
  view_ = view_along(scores.dims(), 1);
  labels_ = labels.to_int64s();
  const bool ignores = call.node.has("ignore_index");
  const std::int64_t ignored = call.node.integer("ignore_index", 0);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    std::int64_t& label = labels_[i];
    if (ignores && label == ignored) {
      label = -1;
    } else if (label < 0 || label >= view_.extent) {
      fail("the label ", label, " at position ", indices_of(static_cast<std::int64_t>(i), labels.dims()),
           " is not one of the ", view_.extent, " classes 0 to ", view_.extent - 1);
    } else {
      ++count_;
    }
  }
}

}  // namespace ort_train::kernels
