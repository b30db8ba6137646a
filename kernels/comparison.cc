#include "kernels/elementwise.h"
#include "kernels/functors/arithmetic.h"

namespace ort_train::kernels {

namespace {

template <typename Functor>
void compute_comparison(Invocation& call) {
  binary_kernel(call, numeric_types, Functor{});
}

void compute_equal(Invocation& call) { binary_kernel(call, all_types, functors::Equal{}); }

template <typename Functor>
void compute_logical(Invocation& call) {
  const Tensor& a = call.inputs.at(0);
  const Tensor& b = call.inputs.at(1);
  Tensor& out = output(call, 0, DataType::boolean, broadcast_dims(a.dims(), b.dims()));
  map_binary<bool, bool, bool>(a, b, out, Functor{});
}

/// Only moves elements, so that the size of one is all that matters.
template <typename Word>
void select(const Tensor& condition, const Tensor& x, const Tensor& y, Tensor& out) {
  const Broadcast plan(out.dims(), {condition.dims(), x.dims(), y.dims()});
  const bool* conditions = condition.data<bool>();
  const auto* xs = reinterpret_cast<const Word*>(x.raw());
  const auto* ys = reinterpret_cast<const Word*>(y.raw());
  auto* target = reinterpret_cast<Word*>(out.raw());
  const std::int64_t condition_stride = plan.stride(0), x_stride = plan.stride(1), y_stride = plan.stride(2);
  parallel_for(plan.size(), cheap_grain, [&](std::int64_t begin, std::int64_t end) {
    plan.for_each_run(begin, end, [&](std::int64_t position, const std::int64_t* offsets, std::int64_t length) {
      const bool* c = conditions + offsets[0];
      const Word* a = xs + offsets[1];
      const Word* b = ys + offsets[2];
      Word* out_run = target + position;
      if (condition_stride == 1 && x_stride == 1 && y_stride == 1) {
        for (std::int64_t i = 0; i < length; ++i) out_run[i] = c[i] ? a[i] : b[i];
      } else {
        for (std::int64_t i = 0; i < length; ++i) {
          out_run[i] = c[i * condition_stride] ? a[i * x_stride] : b[i * y_stride];
        }
      }
    });
  });
}

void compute_where(Invocation& call) {
  const Tensor& condition = call.inputs.at(0);
  const Tensor& x = call.inputs.at(1);
  const Tensor& y = call.inputs.at(2);
  if (x.dtype() != y.dtype()) fail("the choices have the types ", name_of(x.dtype()), " and ", name_of(y.dtype()));
  Tensor& out = output(call, 0, x.dtype(), broadcast_dims(condition.dims(), broadcast_dims(x.dims(), y.dims())));
  switch (size_of(x.dtype())) {
    case 1: return select<std::uint8_t>(condition, x, y, out);
    case 2: return select<std::uint16_t>(condition, x, y, out);
    case 4: return select<std::uint32_t>(condition, x, y, out);
    default: return select<std::uint64_t>(condition, x, y, out);
  }
}

const Registration registrations[] = {
    {"Equal", compute_equal},
    {"Greater", compute_comparison<functors::Greater>},
    {"Less", compute_comparison<functors::Less>},
    {"GreaterOrEqual", compute_comparison<functors::GreaterOrEqual>},
    {"LessOrEqual", compute_comparison<functors::LessOrEqual>},
    {"And", compute_logical<functors::BitwiseAnd>},
    {"Or", compute_logical<functors::BitwiseOr>},
    {"Xor", compute_logical<functors::BitwiseXor>},
    {"Where", compute_where},
};

}  // namespace

}  // namespace ort_train::kernels
