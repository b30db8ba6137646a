// Every kind of cuDNN operation, planned by the real library and computed by the virtual GPUs, gives what the plain
// kernels give. Plans that cuDNN compiles take half a second and more; ORT_TRAIN_LONG_TESTS=1 runs all pointwise modes.
#include "tests/cuda/execution.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "tests/kernel_case.h"

using namespace ort_train;
using namespace ort_train::test;
using ort_train::tests::Arrays;
using ort_train::tests::run_node;
using ort_train::tests::run_nodes;
using ort_train::tests::sample;
namespace cudnn = ort_train::runtime::cuda::cudnn;

namespace {

Execution& execution() {
  static Execution execution;
  return execution;
}

/// Shifted, so that no element is at a kink.
Tensor shifted(const Dims& dims, int seed, double shift = 0.013) {
  Tensor values = sample(dims, seed);
  for (std::int64_t i = 0; i < values.size(); ++i) values.data<double>()[i] += shift;
  return values;
}

std::string window_text(const ConvolutionShape& shape) {
  Dims pads = shape.pads_begin;
  pads.insert(pads.end(), shape.pads_end.begin(), shape.pads_end.end());
  return text("kernel_shape = ", to_string(Dims(shape.filter.begin() + 2, shape.filter.end())),
              ", pads = ", to_string(pads), ", strides = ", to_string(shape.strides),
              ", dilations = ", to_string(shape.dilations), ", group = ", shape.image[1] / shape.filter[1]);
}

void check_convolution(const ConvolutionShape& shape, DataType type) {
  const Tensor x = rounded(sample(shape.image, 1), type), w = rounded(sample(shape.filter, 2), type);
  const Tensor dy = rounded(sample(shape.response(), 3), type);
  const std::string window = window_text(shape);
  const auto expected =
      run_nodes("y = Conv<" + window + ">(x, w) dx = ai.ort_train.ConvGradInput<" + window +
                    ", input_shape = " + to_string(shape.image) + ">(dy, w) dw = ai.ort_train.ConvGradWeight<" +
                    window + ", weight_shape = " + to_string(shape.filter) + ">(dy, x)",
                {{"x", x}, {"w", w}, {"dy", dy}}, {"y", "dx", "dw"});
  const double tolerance = tolerance_of(type);
  check_close(execution().run(convolution(ConvolutionPass::forward, shape, type), {{0, x}, {1, w}}).at(2),
              expected.at("y"), tolerance, "forward");
  check_close(execution().run(convolution(ConvolutionPass::data_gradient, shape, type), {{1, w}, {2, dy}}).at(0),
              expected.at("dx"), tolerance, "data gradient");
  check_close(execution().run(convolution(ConvolutionPass::filter_gradient, shape, type), {{0, x}, {2, dy}}).at(1),
              expected.at("dw"), tolerance, "filter gradient");
}

Tensor channels(std::int64_t count, int seed) { return sample({1, count, 1, 1}, seed); }

Tensor flat(const Tensor& tensor) { return tensor.reshaped({tensor.size()}); }

/// 1 / sqrt(variance + epsilon)
Tensor inverse_deviation(const Tensor& variance, double epsilon) {
  Tensor result = variance.cast(DataType::float64).clone();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.data<double>()[i] = 1 / std::sqrt(result.data<double>()[i] + epsilon);
  }
  return result;
}

constexpr const char* batch_normalization =
    "y, m, v, mean, variance = ai.ort_train.BatchNormalizationTraining(x, scale, b, rm, rv) ";

/// Central differences of sum(dy * node(inputs)) by the input `name`.
Tensor numeric_gradient(const std::string& node, Arrays inputs, const std::string& name, const Tensor& dy) {
  constexpr double step = 1e-5;
  const auto value = [&] {
    const Tensor y = run_node(node, inputs);
    double sum = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) sum += y.data<double>()[i] * dy.data<double>()[i];
    return sum;
  };
  Tensor gradient(DataType::float64, inputs.at(name).dims());
  for (std::int64_t i = 0; i < gradient.size(); ++i) {
    const Tensor original = inputs.at(name);
    double sides[2];
    for (const int side : {0, 1}) {
      inputs[name] = original.clone();
      inputs[name].data<double>()[i] += side == 0 ? -step : step;
      sides[side] = value();
    }
    inputs[name] = original;
    gradient.data<double>()[i] = (sides[1] - sides[0]) / (2 * step);
  }
  return gradient;
}

struct PointwiseCase {
  PointwiseMode mode;
  const char* node;  ///< of a (and b, c); for gradients the forward operation of b
  bool long_only;
};

constexpr PointwiseCase pointwise_cases[] = {
    {PointwiseMode::identity, "y = Identity(a)", true},
    {PointwiseMode::absolute, "y = Abs(a)", true},
    {PointwiseMode::negate, "y = Neg(a)", true},
    {PointwiseMode::reciprocal, "y = Reciprocal(a)", true},
    {PointwiseMode::square_root, "y = Sqrt(a)", true},
    {PointwiseMode::reciprocal_square_root, "t = Sqrt(a) y = Reciprocal(t)", true},
    {PointwiseMode::exponential, "y = Exp(a)", true},
    {PointwiseMode::logarithm, "y = Log(a)", true},
    {PointwiseMode::error_function, "y = Erf(a)", true},
    {PointwiseMode::relu, "y = Relu(a)", false},
    {PointwiseMode::sigmoid, "y = Sigmoid(a)", true},
    {PointwiseMode::tanh, "y = Tanh(a)", true},
    {PointwiseMode::elu, "y = Elu(a)", true},
    {PointwiseMode::softplus, "y = Softplus(a)", true},
    {PointwiseMode::swish, "t = Sigmoid(a) y = Mul(a, t)", true},
    {PointwiseMode::gelu, "y = Gelu(a)", false},
    {PointwiseMode::gelu_tanh, "y = Gelu<approximate = \"tanh\">(a)", true},
    {PointwiseMode::add, "y = Add(a, b)", true},
    {PointwiseMode::subtract, "y = Sub(a, b)", false},
    {PointwiseMode::multiply, "y = Mul(a, b)", true},
    {PointwiseMode::divide, "y = Div(a, b)", true},
    {PointwiseMode::maximum, "y = Max(a, b)", true},
    {PointwiseMode::minimum, "y = Min(a, b)", true},
    {PointwiseMode::power, "y = Pow(a, b)", true},
    {PointwiseMode::greater, "t = Greater(a, b) y = Cast<to = 11>(t)", false},
    {PointwiseMode::greater_or_equal, "t = GreaterOrEqual(a, b) y = Cast<to = 11>(t)", true},
    {PointwiseMode::less, "t = Less(a, b) y = Cast<to = 11>(t)", true},
    {PointwiseMode::less_or_equal, "t = LessOrEqual(a, b) y = Cast<to = 11>(t)", true},
    {PointwiseMode::equal, "t = Equal(a, b) y = Cast<to = 11>(t)", true},
    {PointwiseMode::not_equal, "t = Equal(a, b) n = Not(t) y = Cast<to = 11>(n)", true},
    {PointwiseMode::relu_backward, "y = Relu(b)", false},
    {PointwiseMode::sigmoid_backward, "y = Sigmoid(b)", true},
    {PointwiseMode::tanh_backward, "y = Tanh(b)", true},
    {PointwiseMode::elu_backward, "y = Elu(b)", true},
    {PointwiseMode::softplus_backward, "y = Softplus(b)", true},
    {PointwiseMode::swish_backward, "t = Sigmoid(b) y = Mul(b, t)", true},
    {PointwiseMode::gelu_backward, "y = Gelu(b)", false},
    {PointwiseMode::gelu_tanh_backward, "y = Gelu<approximate = \"tanh\">(b)", true},
    {PointwiseMode::select, "t = Cast<to = 9>(c) y = Where(t, a, b)", false},
};

bool is_gradient(PointwiseMode mode) {
  return mode >= PointwiseMode::relu_backward && mode <= PointwiseMode::gelu_tanh_backward;
}

bool is_of_positive(PointwiseMode mode) {
  return mode == PointwiseMode::square_root || mode == PointwiseMode::reciprocal_square_root ||
         mode == PointwiseMode::logarithm || mode == PointwiseMode::power;
}

void check_pointwise(const PointwiseCase& one) {
  const Dims dims{2, 8, 3, 5};
  Arrays inputs{{"a", shifted(dims, 1, is_of_positive(one.mode) ? 2.113 : 0.013)}, {"b", shifted(dims, 2)}};
  for (auto& [name, tensor] : inputs) tensor = rounded(tensor, DataType::float32);
  Tensor choice = sample(dims, 3);
  for (std::int64_t i = 0; i < choice.size(); ++i) choice.data<double>()[i] = choice.data<double>()[i] > 0;
  const OperationGraph graph = pointwise(one.mode, dims, DataType::float32);
  Operands operands{{0, inputs.at("a")}};
  const auto output = static_cast<cudnn::TensorId>(graph.tensors.size()) - 1;
  if (output > 1) operands[1] = inputs.at("b");
  if (output > 2) operands[2] = choice;
  const Tensor actual = execution().run(graph, operands).at(output);
  const std::string node = one.node;
  Tensor expected;
  if (is_gradient(one.mode)) {
    expected = numeric_gradient(node, {{"b", inputs.at("b")}}, "b", inputs.at("a"));
  } else {
    inputs["c"] = choice;
    for (const std::string name : {"a", "b", "c"}) {
      if (node.find(name + ")") == std::string::npos && node.find(name + ",") == std::string::npos) inputs.erase(name);
    }
    expected = run_node(node, inputs);
  }
  check_close(actual, expected, 1e-5, node);
}

struct AttentionInputs {
  Tensor query, key, value, gradient, mask;
};

Arrays expected_attention(const AttentionInputs& in, double scale) {
  const Tensor factor = Tensor::of<double>({1}, {scale});
  return run_nodes(
      "kt = Transpose<perm = [0, 1, 3, 2]>(k) vt = Transpose<perm = [0, 1, 3, 2]>(v) s0 = MatMul(q, kt)"
      " s1 = Mul(s0, factor) s = Add(s1, mask) p = Softmax<axis = -1>(s) o = MatMul(p, v)"
      " l0 = ReduceLogSumExp<keepdims = 1>(s, axes)"
      " pt = Transpose<perm = [0, 1, 3, 2]>(p) dv = MatMul(pt, g) dp = MatMul(g, vt) t = Mul(dp, p)"
      " r = ReduceSum<keepdims = 1>(t, axes) u = Sub(dp, r) ds0 = Mul(u, p) ds = Mul(ds0, factor) dq = MatMul(ds, k)"
      " dst = Transpose<perm = [0, 1, 3, 2]>(ds) dk = MatMul(dst, q)",
      {{"q", in.query},
       {"k", in.key},
       {"v", in.value},
       {"g", in.gradient},
       {"mask", in.mask},
       {"factor", factor},
       {"axes", Tensor::of_int64s({3})}},
      {"o", "l0", "dq", "dk", "dv"});
}

AttentionInputs attention_inputs(const Dims& dims, DataType type, bool causal, bool bias) {
  AttentionInputs in{rounded(sample(dims, 1), type), rounded(sample(dims, 2), type), rounded(sample(dims, 3), type),
                     rounded(sample(dims, 4), type), Tensor(DataType::float64, {1, dims[1], dims[2], dims[2]})};
  if (bias) in.mask = rounded(sample(in.mask.dims(), 5), type);
  for (std::int64_t i = 0; causal && i < in.mask.size(); ++i) {
    if (i % dims[2] > i / dims[2] % dims[2]) in.mask.data<double>()[i] = -1e30;
  }
  return in;
}

}  // namespace

TEST_CASE("Convolutions and their gradients") {
  const std::vector<ConvolutionShape> shapes = {
      convolution_2d({2, 8, 7, 6}, 16, 3, 1),
      convolution_2d({2, 3, 9, 9}, 8, 3, 1, 2),
      convolution_2d({2, 8, 9, 9}, 8, 3, 2, 1, 2),
      convolution_2d({2, 8, 6, 6}, 16, 3, 1, 1, 1, 2),
      convolution_2d({2, 5, 6, 6}, 7, 1, 0),
      {{2, 8, 1, 11}, {4, 8, 1, 3}, {0, 1}, {0, 1}, {1, 2}, {1, 1}},
      {{1, 4, 4, 5, 6}, {8, 4, 2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 2, 1}, {1, 1, 1}},
  };
  for (const DataType type : {DataType::float32, DataType::float64, DataType::bfloat16, DataType::float16}) {
    for (const ConvolutionShape& shape : shapes) check_convolution(shape, type);
  }
}

TEST_CASE("Unequal padding") {
  check_convolution({{2, 8, 9, 9}, {16, 8, 3, 3}, {0, 0}, {1, 1}, {2, 2}, {1, 1}}, DataType::float32);
}

TEST_CASE("Convolution, bias and ReLU in one plan") {
  const ConvolutionShape shape = convolution_2d({2, 8, 7, 6}, 16, 3, 1);
  const Tensor x = rounded(sample(shape.image, 1), DataType::float32);
  const Tensor w = rounded(sample(shape.filter, 2), DataType::float32), bias = channels(16, 3);
  const Tensor expected = run_node("c = Conv<pads = [1, 1, 1, 1]>(x, w, b) y = Relu(c)",
                                   {{"x", x}, {"w", w}, {"b", flat(rounded(bias, DataType::float32))}});
  const OperationGraph graph = convolution_bias_relu(shape, DataType::float32);
  check_close(execution().run(graph, {{0, x}, {1, w}, {2, bias}}).at(3), expected, 1e-5, "fused");
}

TEST_CASE("Pointwise operations") {
  const bool all = std::getenv("ORT_TRAIN_LONG_TESTS") != nullptr;
  for (const PointwiseCase& one : pointwise_cases) {
    if (all || !one.long_only) check_pointwise(one);
  }
}

TEST_CASE("Logical operations") {
  const Dims dims{2, 16, 3, 4};
  Tensor a = sample(dims, 1), b = sample(dims, 2);
  for (Tensor* tensor : {&a, &b}) {
    for (std::int64_t i = 0; i < a.size(); ++i) tensor->data<double>()[i] = tensor->data<double>()[i] > 0;
  }
  for (const auto& [mode, name] : {std::pair{PointwiseMode::logical_and, "And"}, {PointwiseMode::logical_or, "Or"}}) {
    const Tensor expected =
        run_node(text("s = Cast<to = 9>(a) t = Cast<to = 9>(b) r = ", name, "(s, t) y = Cast<to = 11>(r)"),
                 {{"a", a}, {"b", b}});
    check_close(execution().run(pointwise(mode, dims, DataType::boolean), {{0, a}, {1, b}}).at(2), expected, 0, name);
  }
}

TEST_CASE("Reductions") {
  const Dims dims{4, 16, 3, 5};
  const Tensor x = rounded(sample(dims, 1), DataType::float32);
  const std::pair<ReductionMode, const char*> modes[] = {
      {ReductionMode::sum, "ReduceSum"}, {ReductionMode::maximum, "ReduceMax"}, {ReductionMode::minimum, "ReduceMin"}

  };
  for (const auto& [mode, reduced_by] : modes) {
    const std::string name = reduced_by;
    INFO(name);
    const Tensor expected =
        run_node(text("y = ", name, "<keepdims = 1>(x, axes)"), {{"x", x}, {"axes", Tensor::of_int64s({0, 2, 3})}});
    const OperationGraph graph = reduction(mode, dims, {1, 16, 1, 1}, DataType::float32);
    check_close(execution().run(graph, {{0, x}}).at(1), expected, 1e-5, name);
  }
}

TEST_CASE("Matrix products") {
  for (const DataType type : {DataType::float32, DataType::bfloat16}) {
    const Tensor a = rounded(sample({3, 8, 24}, 1), type), b = rounded(sample({3, 24, 16}, 2), type);
    OperationGraph graph = matrix_product(3, 8, 16, 24, type);
    graph.allow_tf32 = true;  // There is no other engine; virtual GPUs do not round.
    check_close(execution().run(graph, {{0, a}, {1, b}}).at(2), run_node("y = MatMul(a, b)", {{"a", a}, {"b", b}}),
                tolerance_of(type), name_of(type));
  }
}

TEST_CASE("Batch normalization, its fusions and gradients") {
  for (const DataType type : {DataType::float32, DataType::bfloat16}) {
    const Dims dims{4, 16, 3, 5};
    const Tensor x = rounded(sample(dims, 1), type), dy = rounded(sample(dims, 2), type);
    const Tensor residual = rounded(sample(dims, 3), type);
    const Tensor scale = rounded(channels(16, 4), DataType::float32),
                 bias = rounded(channels(16, 5), DataType::float32);
    const Arrays given{
        {"x", x},   {"scale", flat(scale)}, {"b", flat(bias)}, {"rm", sample({16}, 6)}, {"rv", sample({16}, 7)},
        {"dy", dy}, {"r", residual}};
    const auto expected = run_nodes(std::string(batch_normalization) +
                                        "s = Add(y, r) z = Relu(s) dx, ds, db = "
                                        "ai.ort_train.BatchNormalizationGrad(dy, x, scale, mean, variance)",
                                    given, {"y", "z", "mean", "variance", "dx", "ds", "db"});
    const Dims parameters{1, 16, 1, 1};
    const Tensor mean = expected.at("mean").reshaped(parameters);
    const Tensor inverse = inverse_deviation(expected.at("variance"), 1e-5).reshaped(parameters);
    const double tolerance = tolerance_of(type);

    const auto plain =
        execution().run(normalization_forward(NormalizationKind::batch, dims, type), {{0, x}, {1, scale}, {2, bias}});
    check_close(plain.at(3), expected.at("y"), tolerance, "y");
    check_close(plain.at(4), mean, 1e-5, "mean");
    check_close(plain.at(5), inverse, 1e-5, "inverse deviation");

    const auto fused =
        execution().run(batch_normalization_add_relu(dims, type), {{0, x}, {1, scale}, {2, bias}, {3, residual}});
    check_close(fused.at(4), expected.at("z"), tolerance, "with addition and ReLU");

    const auto gradient = execution().run(normalization_backward(NormalizationKind::batch, dims, type),
                                          {{0, x}, {1, dy}, {2, scale}, {3, mean}, {4, inverse}});
    check_close(gradient.at(5), expected.at("dx"), tolerance, "gradient of x");
    check_close(gradient.at(6), expected.at("ds").reshaped(parameters), 1e-4, "gradient of scale");
    check_close(gradient.at(7), expected.at("db").reshaped(parameters), 1e-5, "gradient of bias");

    Arrays masked = given;
    masked["z"] = rounded(expected.at("z"), type);
    const auto expected_masked =
        run_nodes(std::string(batch_normalization) +
                      "zero = Sub(z, z) g = Greater(z, zero) k = Cast<to = 11>(g) d = Mul(dy, k)"
                      " dx, ds, db = ai.ort_train.BatchNormalizationGrad(d, x, scale, mean, "
                      "variance)",
                  masked, {"dx", "ds", "db"});
    const auto relu = execution().run(batch_normalization_relu_backward(dims, type),
                                      {{0, x}, {1, masked.at("z")}, {2, dy}, {3, scale}, {4, mean}, {5, inverse}});
    check_close(relu.at(6), expected_masked.at("dx"), tolerance, "gradient of x through ReLU");
    check_close(relu.at(7), expected_masked.at("ds").reshaped(parameters), 1e-4, "gradient of scale through ReLU");
    check_close(relu.at(8), expected_masked.at("db").reshaped(parameters), 1e-5, "gradient of bias through ReLU");
  }
}

TEST_CASE("Batch normalization by cuDNN's older calls where its graphs have no engine") {
  for (const DataType type : {DataType::float32, DataType::float64, DataType::float16}) {
    const Dims dims{4, 5, 3, 5}, parameters{1, 5, 1, 1};
    const OperationGraph forward_graph = normalization_forward(NormalizationKind::batch, dims, type);
    CHECK(execution().planner().find(forward_graph)->name() == "cudnnBatchNormalizationForwardTraining");
    const Tensor x = rounded(sample(dims, 1), type), dy = rounded(sample(dims, 2), type);
    const Tensor scale = rounded(channels(5, 4), DataType::float32), bias = rounded(channels(5, 5), DataType::float32);
    const auto expected =
        run_nodes(std::string(batch_normalization) +
                      "dx, ds, db = ai.ort_train.BatchNormalizationGrad(dy, x, scale, mean, variance)",
                  {{"x", x},
                   {"scale", flat(scale)},
                   {"b", flat(bias)},
                   {"rm", sample({5}, 6)},
                   {"rv", sample({5}, 7)},
                   {"dy", dy}},
                  {"y", "mean", "variance", "dx", "ds", "db"});
    const double tolerance = tolerance_of(type);
    const auto forward = execution().run(forward_graph, {{0, x}, {1, scale}, {2, bias}});
    check_close(forward.at(3), expected.at("y"), tolerance, "y");
    check_close(forward.at(4), expected.at("mean").reshaped(parameters), 1e-5, "mean");
    check_close(forward.at(5), inverse_deviation(expected.at("variance"), 1e-5).reshaped(parameters), 1e-5,
                "deviation");
    const auto backward = execution().run(normalization_backward(NormalizationKind::batch, dims, type),
                                          {{0, x}, {1, dy}, {2, scale}, {3, forward.at(4)}, {4, forward.at(5)}});
    check_close(backward.at(5), expected.at("dx"), tolerance, "gradient of x");
    check_close(backward.at(6), expected.at("ds").reshaped(parameters), 1e-4, "gradient of scale");
    check_close(backward.at(7), expected.at("db").reshaped(parameters), 1e-5, "gradient of bias");
  }
}

TEST_CASE("Running statistics of batch normalization, with Bessel's correction") {
  const Dims dims{4, 16, 3, 5}, parameters{1, 16, 1, 1};
  OperationGraph graph = normalization_forward(NormalizationKind::batch, dims, DataType::float32);
  auto& operation = std::get<cudnn::NormalizationForward>(graph.operations[0]);
  operation.momentum = 0.25;
  operation.running_mean = graph.add_channels_last(DataType::float32, parameters);
  operation.running_variance = graph.add_channels_last(DataType::float32, parameters);
  operation.next_running_mean = graph.add_channels_last(DataType::float32, parameters);
  operation.next_running_variance = graph.add_channels_last(DataType::float32, parameters);
  const Tensor x = rounded(sample(dims, 1), DataType::float32), ones = shifted(parameters, 2);
  const auto actual =
      execution().run(graph, {{0, x}, {1, ones}, {2, ones}, {6, channels(16, 3)}, {7, channels(16, 4)}});
  const auto expected =
      run_nodes(batch_normalization,
                {{"x", x}, {"scale", flat(ones)}, {"b", flat(ones)}, {"rm", sample({16}, 3)}, {"rv", sample({16}, 4)}},
                {"mean", "variance"});
  const double correction = 60.0 / 59.0;
  for (std::int64_t c = 0; c < 16; ++c) {
    const double mean = expected.at("mean").data<double>()[c], variance = expected.at("variance").data<double>()[c];
    CHECK(actual.at(8).data<double>()[c] ==
          doctest::Approx(0.75 * channels(16, 3).data<double>()[c] + 0.25 * mean).epsilon(1e-5));
    CHECK(actual.at(9).data<double>()[c] ==
          doctest::Approx(0.75 * channels(16, 4).data<double>()[c] + 0.25 * variance * correction).epsilon(1e-5));
  }
}

TEST_CASE("Instance normalization and its gradient") {
  const Dims dims{2, 8, 4, 5}, statistics{2, 8, 1, 1};
  const Tensor x = rounded(sample(dims, 1), DataType::float32), dy = rounded(sample(dims, 2), DataType::float32);
  const Tensor scale = rounded(channels(8, 3), DataType::float32), bias = rounded(channels(8, 4), DataType::float32);
  const auto expected = run_nodes(
      "y = InstanceNormalization(x, scale, b) dx, ds, db = ai.ort_train.InstanceNormalizationGrad(dy, x, scale)",
      {{"x", x}, {"dy", dy}, {"scale", flat(scale)}, {"b", flat(bias)}}, {"y", "dx", "ds", "db"});
  const auto forward = execution().run(normalization_forward(NormalizationKind::instance, dims, DataType::float32),
                                       {{0, x}, {1, scale}, {2, bias}});
  check_close(forward.at(3), expected.at("y"), 1e-5, "y");
  REQUIRE(forward.at(4).dims() == statistics);
  const auto backward = execution().run(normalization_backward(NormalizationKind::instance, dims, DataType::float32),
                                        {{0, x}, {1, dy}, {2, scale}, {3, forward.at(4)}, {4, forward.at(5)}});
  check_close(backward.at(5), expected.at("dx"), 1e-5, "gradient of x");
  check_close(backward.at(6), expected.at("ds").reshaped({1, 8, 1, 1}), 1e-5, "gradient of scale");
  check_close(backward.at(7), expected.at("db").reshaped({1, 8, 1, 1}), 1e-5, "gradient of bias");
}

TEST_CASE("Layer normalization and its gradient") {
  const Dims dims{6, 64, 1, 1}, flat_dims{6, 64};
  const Tensor x = rounded(sample(dims, 1), DataType::float32), dy = rounded(sample(dims, 2), DataType::float32);
  const Tensor scale = rounded(channels(64, 3), DataType::float32), bias = rounded(channels(64, 4), DataType::float32);
  const auto expected = run_nodes(
      "y, mean, inv = LayerNormalization<stash_type = 11>(x, scale, b) dx, ds, db = "
      "ai.ort_train.LayerNormalizationGrad(dy, x, scale, mean, inv)",
      {{"x", x.reshaped(flat_dims)}, {"dy", dy.reshaped(flat_dims)}, {"scale", flat(scale)}, {"b", flat(bias)}},
      {"y", "mean", "inv", "dx", "ds", "db"});
  const auto forward = execution().run(normalization_forward(NormalizationKind::layer, dims, DataType::float32),
                                       {{0, x}, {1, scale}, {2, bias}});
  check_close(forward.at(3), expected.at("y").reshaped(dims), 1e-5, "y");
  check_close(forward.at(4), expected.at("mean").reshaped({6, 1, 1, 1}), 1e-5, "mean");
  check_close(forward.at(5), expected.at("inv").reshaped({6, 1, 1, 1}), 1e-5, "inverse deviation");
  const auto backward = execution().run(normalization_backward(NormalizationKind::layer, dims, DataType::float32),
                                        {{0, x}, {1, dy}, {2, scale}, {3, forward.at(4)}, {4, forward.at(5)}});
  check_close(backward.at(5), expected.at("dx").reshaped(dims), 1e-5, "gradient of x");
  check_close(backward.at(6), expected.at("ds").reshaped({1, 64, 1, 1}), 1e-5, "gradient of scale");
  check_close(backward.at(7), expected.at("db").reshaped({1, 64, 1, 1}), 1e-5, "gradient of bias");
}

TEST_CASE("RMS normalization and its gradient") {
  const Dims dims{3, 64, 1, 1}, flat_dims{3, 64};
  const Tensor x = rounded(sample(dims, 1), DataType::float32), dy = rounded(sample(dims, 2), DataType::float32);
  const Tensor scale = rounded(channels(64, 3), DataType::float32);
  const std::string node = "y = RMSNormalization(x, scale)";
  const Arrays given{{"x", x.reshaped(flat_dims)}, {"scale", flat(scale)}};
  const auto forward =
      execution().run(normalization_forward(NormalizationKind::rms, dims, DataType::float32), {{0, x}, {1, scale}});
  check_close(forward.at(2), run_node(node, given).reshaped(dims), 1e-5, "y");
  const auto backward = execution().run(normalization_backward(NormalizationKind::rms, dims, DataType::float32),
                                        {{0, x}, {1, dy}, {2, scale}, {3, forward.at(3)}});
  const Tensor flat_dy = dy.reshaped(flat_dims);
  check_close(backward.at(4), numeric_gradient(node, given, "x", flat_dy).reshaped(dims), 1e-5, "gradient of x");
  check_close(backward.at(5), numeric_gradient(node, given, "scale", flat_dy).reshaped({1, 64, 1, 1}), 1e-5,
              "gradient of scale");
}

TEST_CASE("Pooling and its gradient") {
  const Dims image{2, 8, 7, 6}, small{2, 8, 4, 3};
  const Tensor x = rounded(sample(image, 1), DataType::float32), dy = rounded(sample(small, 2), DataType::float32);
  const std::string window = "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]";
  const auto run = [&](PoolingMode mode, const std::string& nodes) {
    const bool maximum = mode == PoolingMode::maximum;
    const auto expected = run_nodes(nodes, {{"x", x}, {"dy", dy}}, {"y", "dx"});
    const auto forward = execution().run(pooling_forward(mode, image, 3, 1, 2, DataType::float32, maximum), {{0, x}});
    check_close(forward.at(1), expected.at("y"), 1e-5, nodes);
    Operands given{{0, dy}};
    if (maximum) given[2] = forward.at(2);
    const auto backward = execution().run(pooling_backward(mode, image, 3, 1, 2, DataType::float32), given);
    check_close(backward.at(1), expected.at("dx"), 1e-5, nodes + " (gradient)");
  };
  run(PoolingMode::maximum, "y = MaxPool<" + window + ">(x) dx = ai.ort_train.MaxPoolGrad<" + window + ">(dy, x, y)");
  for (const bool padding : {true, false}) {
    const std::string average = window + text(", count_include_pad = ", padding);
    run(padding ? PoolingMode::average_with_padding : PoolingMode::average_without_padding,
        text("y = AveragePool<", average, ">(x) dx = ai.ort_train.AveragePoolGrad<", average,
             ", input_shape = ", to_string(image), ">(dy)"));
  }
}

TEST_CASE("Attention and its gradient") {
  const Dims dims{2, 2, 64, 32};
  const double scale = 1 / std::sqrt(32.0);
  for (const auto& [causal, bias] : {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}}) {
    const DataType type = DataType::float16;
    const AttentionInputs in = attention_inputs(dims, type, causal, bias);
    const Arrays expected = expected_attention(in, scale);
    Operands given{{0, in.query}, {1, in.key}, {2, in.value}};
    if (bias) given[5] = in.mask;
    const auto forward = execution().run(attention_forward(2, 2, 64, 32, causal, bias, type), given);
    check_close(forward.at(3), expected.at("o"), 4e-3, "output");
    check_close(forward.at(4), expected.at("l0"), 1e-4, "statistics");
    Operands all{{0, in.query}, {1, in.key}, {2, in.value}, {3, forward.at(3)}, {4, in.gradient}, {5, forward.at(4)}};
    if (bias) all[9] = in.mask;
    const auto backward = execution().run(attention_backward(2, 2, 64, 32, causal, bias, type), all);
    check_close(backward.at(6), expected.at("dq"), 2e-2, "gradient of the query");
    check_close(backward.at(7), expected.at("dk"), 2e-2, "gradient of the key");
    check_close(backward.at(8), expected.at("dv"), 2e-2, "gradient of the value");
  }
}

TEST_CASE("A plan needs all its pointers") {
  const OperationGraph graph =
      convolution(ConvolutionPass::forward, convolution_2d({2, 8, 4, 4}, 8, 3, 1), DataType::float32);
  const auto plan = execution().planner().find(graph);
  REQUIRE(plan != nullptr);
  const std::vector<void*> few(2, nullptr);
  CHECK_THROWS_WITH_AS(plan->execute(execution().handle(), few, nullptr), doctest::Contains("was given 2 pointers"),
                       Error);
}
