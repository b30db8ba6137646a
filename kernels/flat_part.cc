#include "base/flat_part.h"

#include "kernels/arguments.h"

namespace ort_train::kernels {

namespace {

/// Part `index` of `parts` equal ones of the elements in row-major order. The last parts are filled up with zeros.
void compute_flat_part(Invocation& call) {
  const Tensor& whole = call.inputs.at(0);
  const std::int64_t parts = call.node.integer("parts", 1), index = call.node.integer("index", 0);
  if (parts < 1 || index < 0 || index >= parts) fail("there is no part ", index, " of ", parts);
  copy_flat_part(whole, parts, index, output(call, 0, whole.dtype(), {flat_part_size(whole.size(), parts)}).raw());
}

const TrainingRegistration registration("FlatPart", compute_flat_part);

}  // namespace

}  // namespace ort_train::kernels
