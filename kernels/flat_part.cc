#include <algorithm>
#include <cstring>

#include "kernels/arguments.h"

namespace ort_train::kernels {

namespace {

/// Part `index` of `parts` equal ones of the elements in row-major order. The last parts are filled up with zeros.
void compute_flat_part(Invocation& call) {
  const Tensor& whole = call.inputs.at(0);
  const std::int64_t parts = call.node.integer("parts", 1), index = call.node.integer("index", 0);
  if (parts < 1 || index < 0 || index >= parts) fail("there is no part ", index, " of ", parts);
  const std::int64_t length = (whole.size() + parts - 1) / parts;
  const std::int64_t first = std::min(whole.size(), index * length);
  const std::int64_t present = std::min(length, whole.size() - first);
  Tensor& part = output(call, 0, whole.dtype(), {length});
  const std::size_t width = size_of(whole.dtype());
  const auto bytes_of = [width](std::int64_t elements) { return static_cast<std::size_t>(elements) * width; };
  if (length == 0) return;
  std::memcpy(part.raw(), whole.raw() + bytes_of(first), bytes_of(present));
  std::memset(part.raw() + bytes_of(present), 0, bytes_of(length - present));
}

const TrainingRegistration registration("FlatPart", compute_flat_part);

}  // namespace

}  // namespace ort_train::kernels
