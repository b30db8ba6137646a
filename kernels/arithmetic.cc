#include "kernels/functors/arithmetic.h"

#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/functors/convert.h"

namespace ort_train::kernels {

namespace {

template <typename Functor>
void compute_numeric(Invocation& call) {
  binary_kernel(call, numeric_types, Functor{});
}

template <typename Functor>
void compute_integer(Invocation& call) {
  binary_kernel(call, integer_types, Functor{});
}

/// Integer division by zero stops a program; floating-point division gives infinity or NaN.
void check_divisor(const Tensor& divisor) {
  if (!is_integer(divisor.dtype())) return;
  dispatch_integer(divisor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto values = divisor.values<T>();
    const auto zero = std::find(values.begin(), values.end(), T(0));
    if (zero != values.end()) fail("integer division by zero: element ", zero - values.begin(), " of the divisor is 0");
  });
}

void compute_divide(Invocation& call) {
  check_divisor(call.inputs.at(1));
  binary_kernel(call, numeric_types, functors::Divide{});
}

void compute_modulo(Invocation& call) {
  check_divisor(call.inputs.at(1));
  if (call.node.integer("fmod", 0) != 0) {
    binary_kernel(call, numeric_types, functors::TruncatedRemainder{});
  } else {
    binary_kernel(call, numeric_types, functors::FlooredRemainder{});
  }
}

void compute_shift(Invocation& call) {
  const std::string direction = call.node.string("direction", "");
  if (direction == "LEFT") {
    binary_kernel(call, integer_types, functors::ShiftLeft{});
  } else if (direction == "RIGHT") {
    binary_kernel(call, integer_types, functors::ShiftRight{});
  } else {
    fail("direction is '", direction, "'; BitShift knows 'LEFT' and 'RIGHT'");
  }
}

void check_integer_power(const Tensor& base, const Tensor& exponent) {
  const std::vector<std::int64_t> bases = base.to_int64s();
  const std::vector<std::int64_t> exponents = exponent.to_int64s();
  const bool has_zero = std::find(bases.begin(), bases.end(), 0) != bases.end();
  if (has_zero && std::any_of(exponents.begin(), exponents.end(), [](std::int64_t e) { return e < 0; })) {
    fail("integer division by zero: a base of 0 with a negative exponent");
  }
}

/// The result has the type of the base. Exponents of another type are computed with in float64.
template <typename T>
void power(const Tensor& base, const Tensor& exponent, Tensor& out) {
  if constexpr (std::is_integral_v<T>) {
    if (is_integer(exponent.dtype())) {
      check_integer_power(base, exponent);
      map_binary<T, T, std::int64_t>(base, exponent.cast(DataType::int64), out, functors::IntegerPower{});
      return;
    }
  } else if (exponent.dtype() == base.dtype()) {
    map_binary<T, T, T>(base, exponent, out, functors::Power{});
    return;
  }
  map_binary<T, T, double>(base, exponent.cast(DataType::float64), out, [](Compute<T> x, double y) {
    return functors::Convert<Compute<T>>{}(functors::Power{}(static_cast<double>(x), y));
  });
}

bool is_scalar_two(const Tensor& exponent) { return exponent.size() == 1 && exponent.to_doubles()[0] == 2.0; }

void compute_power(Invocation& call) {
  const Tensor& base = call.inputs.at(0);
  const Tensor& exponent = call.inputs.at(1);
  Tensor& out = output(call, 0, base.dtype(), broadcast_dims(base.dims(), exponent.dims()));
  dispatch_numeric(base.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (is_scalar_two(exponent)) {
      map_unary<T, T>(base, out, [](Compute<T> x) { return functors::Multiply{}(x, x); });
    } else {
      power<T>(base, exponent, out);
    }
  });
}

/// Sum, Mean, Min and Max of any number of inputs. Elements of a few inputs are combined in a buffer, in the order of
/// the inputs and in the type of computation, then `finish` makes the result.
template <typename T, typename Combine, typename Finish>
void fold_inputs(const std::vector<Tensor>& inputs, Tensor& out, const Combine& combine, const Finish& finish) {
  std::vector<Dims> extents;
  std::vector<const T*> sources;
  for (const Tensor& input : inputs) {
    extents.push_back(input.dims());
    sources.push_back(input.data<T>());
  }
  const Broadcast plan(out.dims(), extents);
  T* target = out.data<T>();
  constexpr std::int64_t block = 256;
  const auto fold_block = [&](std::int64_t position, const std::int64_t* offsets, std::int64_t skip,
                              std::int64_t length) {
    Compute<T> buffer[block];
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const std::int64_t stride = plan.stride(k);
      const T* source = sources[k] + offsets[k] + skip * stride;
      if (k == 0) {
        for (std::int64_t i = 0; i < length; ++i) buffer[i] = load(source[i * stride]);
      } else {
        for (std::int64_t i = 0; i < length; ++i) buffer[i] = combine(buffer[i], load(source[i * stride]));
      }
    }
    for (std::int64_t i = 0; i < length; ++i) target[position + skip + i] = static_cast<T>(finish(buffer[i]));
  };
  parallel_for(plan.size(), cheap_grain, [&](std::int64_t begin, std::int64_t end) {
    plan.for_each_run(begin, end, [&](std::int64_t position, const std::int64_t* offsets, std::int64_t length) {
      for (std::int64_t skip = 0; skip < length; skip += block) {
        fold_block(position, offsets, skip, std::min(block, length - skip));
      }
    });
  });
}

template <typename Combine, typename Finish>
void fold_kernel(Invocation& call, const Combine& combine, const Finish& finish) {
  if (call.inputs.empty()) fail("this operator needs at least one input");
  Dims dims = call.inputs[0].dims();
  for (const Tensor& input : call.inputs) dims = broadcast_dims(dims, input.dims());
  Tensor& out = output(call, 0, call.inputs[0].dtype(), dims);
  dispatch_numeric(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold_inputs<T>(call.inputs, out, combine, finish);
  });
}

template <typename Combine>
void compute_fold(Invocation& call) {
  fold_kernel(call, Combine{}, [](auto value) { return value; });
}

void compute_mean(Invocation& call) {
  const std::size_t count = call.inputs.size();
  fold_kernel(call, functors::Add{}, [count](auto sum) { return sum / static_cast<decltype(sum)>(count); });
}

const Registration registrations[] = {
    {"Add", compute_numeric<functors::Add>},
    {"Sub", compute_numeric<functors::Subtract>},
    {"Mul", compute_numeric<functors::Multiply>},
    {"Div", compute_divide},
    {"Mod", compute_modulo},
    {"Pow", compute_power},
    {"BitwiseAnd", compute_integer<functors::BitwiseAnd>},
    {"BitwiseOr", compute_integer<functors::BitwiseOr>},
    {"BitwiseXor", compute_integer<functors::BitwiseXor>},
    {"BitShift", compute_shift},
    {"Sum", compute_fold<functors::Add>},
    {"Mean", compute_mean},
    {"Min", compute_fold<functors::Minimum>},
    {"Max", compute_fold<functors::Maximum>},
};

}  // namespace

}  // namespace ort_train::kernels
