// Elementwise operators of float32 arrays in any common format: arithmetic, cheap activations, sums of several arrays.
#include "runtime/cpu/kernels/elementwise.h"

#include <cmath>

#include "kernels/functors/activations.h"
#include "kernels/functors/arithmetic.h"

namespace ort_train::runtime::cpu {

namespace functors = ort_train::kernels::functors;

Format common_format(const Request& request, const std::vector<std::size_t>& candidates, bool keeps_zeros) {
  for (const std::size_t index : candidates) {
    Format format = request.input(index);
    if (!format.is_plain() && (keeps_zeros || !format.has_padding())) return format;
  }
  return request.plain_input(candidates.front());
}

bool same_shape(const Request& request) {
  const Dims out = request.plain_output(0).dims();
  return request.input(0).dims() == out && request.input(1).dims() == out;
}

namespace {

template <typename Functor>
std::unique_ptr<Kernel> unary(const Request& request) {
  return make_unary(request, Functor{});
}

template <typename Functor>
std::unique_ptr<Kernel> binary(const Request& request) {
  return make_binary(request, Functor{});
}

std::unique_ptr<Kernel> leaky_relu(const Request& request) {
  return make_unary(request, functors::LeakyRelu{request.node.real("alpha", 0.01f)});
}

struct Negative {
  float operator()(float x) const { return -x; }
};
struct AbsoluteValue {
  float operator()(float x) const { return std::fabs(x); }
};
struct SquareRoot {
  float operator()(float x) const { return std::sqrt(x); }
};
struct Reciprocal {
  float operator()(float x) const { return 1.0f / x; }
};

// Sum of any number of arrays of equal extents, from left to right.
class SumKernel : public Kernel {
 public:
  SumKernel(const Format& format, std::size_t operands) : count_(format.stored_size()) {
    name = "own flat";
    inputs.assign(operands, format);
    outputs = {format};
    in_place = {{0, 0}};
  }
  void bind(const Pointers& pointers) override { pointers_ = pointers; }
  void run() override {
    // In pieces that stay in the first-level cache while operand after operand is added.
    ort_train::kernels::parallel_for((count_ + piece - 1) / piece, 8, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) add_piece(i * piece, std::min(count_, (i + 1) * piece));
    });
  }

 private:
  static constexpr std::int64_t piece = 2048;

  void add_piece(std::int64_t begin, std::int64_t end) {
    float* out = pointers_.output<float>(0) + begin;
    const float* left = pointers_.input<float>(0) + begin;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      FlatLoops<functors::Add>::binary(left, pointers_.input<float>(i) + begin, out, end - begin, functors::Add{});
      left = out;
    }
  }

  std::int64_t count_;
  Pointers pointers_;
};

std::unique_ptr<Kernel> make_sum(const Request& request) {
  if (!request.all_of_type(DataType::float32) || request.inputs.size() < 2) return nullptr;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.input(i).dims() != request.plain_output(0).dims()) return nullptr;
    all.push_back(i);
  }
  return std::make_unique<SumKernel>(common_format(request, all, true), all.size());
}

const FactoryRegistration add("Add", binary<functors::Add>);
const FactoryRegistration subtract("Sub", binary<functors::Subtract>);
const FactoryRegistration multiply("Mul", binary<functors::Multiply>);
const FactoryRegistration divide("Div", binary<functors::Divide>);
const FactoryRegistration sum("Sum", make_sum);
const FactoryRegistration relu("Relu", unary<functors::Relu>);
const FactoryRegistration leaky("LeakyRelu", leaky_relu);
const FactoryRegistration negative("Neg", unary<Negative>);
const FactoryRegistration absolute_value("Abs", unary<AbsoluteValue>);
const FactoryRegistration square_root("Sqrt", unary<SquareRoot>);
const FactoryRegistration reciprocal("Reciprocal", unary<Reciprocal>);
const TrainingFactoryRegistration relu_gradient("ReluGrad", binary<functors::ReluGradient>);
const TrainingFactoryRegistration sigmoid_gradient("SigmoidGrad", binary<functors::SigmoidGradient>);
const TrainingFactoryRegistration tanh_gradient("TanhGrad", binary<functors::TanhGradient>);

}  // namespace

}  // namespace ort_train::runtime::cpu
