#include "kernels/elementwise.h"
#include "kernels/functors/convert.h"

namespace ort_train::kernels {

namespace {

void cast(Invocation& call, DataType to) {
  const Tensor& x = call.inputs.at(0);
  Tensor& out = output(call, 0, to, x.dims());
  dispatch(x.dtype(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    dispatch(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      // 16-bit floats are reached through float.
      map_unary<To, From>(x, out, functors::Convert<Compute<To>>{});
    });
  });
}

void compute_cast(Invocation& call) {
  const std::int64_t to = call.node.integer("to", 0);
  cast(call, static_cast<DataType>(to));
}

void compute_cast_like(Invocation& call) { cast(call, call.inputs.at(1).dtype()); }

const Registration registrations[] = {{"Cast", compute_cast}, {"CastLike", compute_cast_like}};

}  // namespace

}  // namespace ort_train::kernels
