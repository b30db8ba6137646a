// The fast kernels of runtime/cpu against the plain ones of kernels/, over awkward shapes.
#include "tests/cpu_kernels_support.h"

namespace ort_train::runtime {
namespace {

using graph::Attributes;
using graph::Value;

struct ConvolutionCase {
  Dims x;
  std::int64_t outputs;
  Dims kernel, strides, pads, dilations;
  std::int64_t group = 1;
};

std::vector<ConvolutionCase> convolution_cases() {
  return {
      {{2, 3, 9, 9}, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{2, 32, 8, 8}, 48, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{3, 16, 9, 7}, 32, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
      {{2, 5, 8, 8}, 7, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{2, 32, 6, 6}, 16, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {{2, 17, 6, 5}, 33, {2, 3}, {1, 2}, {0, 1, 1, 2}, {1, 1}},
      {{1, 8, 9, 9}, 8, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {{2, 32, 8, 8}, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
      {{2, 24, 8, 8}, 24, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 24},
      {{2, 6, 8, 8}, 9, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3},
      {{2, 4, 11}, 6, {3}, {2}, {1, 0}, {1}},
      {{1, 16, 5, 5, 5}, 16, {3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}},
  };
}

Attributes attributes_of(const ConvolutionCase& test) {
  return {{"kernel_shape", test.kernel},
          {"strides", test.strides},
          {"pads", test.pads},
          {"dilations", test.dilations},
          {"group", test.group}};
}

Dims weight_dims(const ConvolutionCase& test) {
  Dims dims{test.outputs, test.x[1] / test.group};
  dims.insert(dims.end(), test.kernel.begin(), test.kernel.end());
  return dims;
}

Dims output_dims(const ConvolutionCase& test) {
  Dims dims{test.x[0], test.outputs};
  for (std::size_t i = 0; i < test.kernel.size(); ++i) {
    const std::int64_t window = (test.kernel[i] - 1) * test.dilations[i] + 1;
    dims.push_back((test.x[i + 2] + test.pads[i] + test.pads[i + test.kernel.size()] - window) / test.strides[i] + 1);
  }
  return dims;
}

TEST_CASE("Conv") {
  for (const ConvolutionCase& test : convolution_cases()) {
    INFO("x ", to_string(test.x), " weight ", to_string(weight_dims(test)));
    KernelComparison comparison;
    Value* w = comparison.parameter(weight_dims(test));
    Value* b = comparison.parameter({test.outputs});
    comparison.output(comparison.builder().emit("Conv", {comparison.input(test.x), w, b}, attributes_of(test)));
    comparison.output(comparison.builder().emit("Conv", {comparison.blocked(test.x), w}, attributes_of(test)));
    comparison.check("Conv");
  }
}

TEST_CASE("ConvGradInput") {
  for (const ConvolutionCase& test : convolution_cases()) {
    INFO("x ", to_string(test.x), " weight ", to_string(weight_dims(test)));
    KernelComparison comparison;
    Value* w = comparison.parameter(weight_dims(test));
    Attributes attributes = attributes_of(test);
    attributes["input_shape"] = test.x;
    for (Value* dy : {comparison.input(output_dims(test)), comparison.blocked(output_dims(test))}) {
      comparison.output(comparison.builder().emit_training("ConvGradInput", {dy, w}, attributes));
    }
    comparison.check("ConvGradInput");
  }
}

TEST_CASE("Winograd's algorithm for 3x3 kernels") {
  const std::vector<ConvolutionCase> cases = {{{2, 32, 16, 16}, 48, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
                                              {{3, 64, 15, 15}, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
                                              {{5, 48, 7, 7}, 64, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
                                              {{2, 32, 12, 18}, 32, {3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
                                              {{1, 32, 12, 11}, 32, {3, 3}, {1, 1}, {0, 1, 2, 1}, {1, 1}}};
  for (const ConvolutionCase& test : cases) {
    INFO("x ", to_string(test.x), " weight ", to_string(weight_dims(test)));
    KernelComparison comparison;
    graph::Builder& builder = comparison.builder();
    Attributes attributes = attributes_of(test);
    Value* w = comparison.parameter(weight_dims(test));
    comparison.output(
        builder.emit("Conv", {comparison.input(test.x), w, comparison.parameter({test.outputs})}, attributes));
    comparison.output(builder.emit("Conv", {comparison.blocked(test.x), w}, attributes));
    attributes["input_shape"] = test.x;
    comparison.output(builder.emit_training("ConvGradInput", {comparison.input(output_dims(test)), w}, attributes));
    comparison.check("Conv");
    comparison.check("ConvGradInput");
#ifdef __x86_64__
    // Elsewhere channels do not come in blocks of 16.
    if (__builtin_cpu_supports("avx512dq")) {
      CHECK(comparison.ran("Conv", "own winograd"));
      CHECK(comparison.ran("ConvGradInput", "own winograd"));
    }
#endif
  }
}

TEST_CASE("ConvGradWeight") {
  for (const ConvolutionCase& test : convolution_cases()) {
    INFO("x ", to_string(test.x), " weight ", to_string(weight_dims(test)));
    KernelComparison comparison;
    Attributes attributes = attributes_of(test);
    attributes["weight_shape"] = weight_dims(test);
    graph::Builder& builder = comparison.builder();
    comparison.outputs(builder.emit_training_many(
        "ConvGradWeight", {comparison.input(output_dims(test)), comparison.input(test.x)}, 2, attributes));
    comparison.outputs(builder.emit_training_many(
        "ConvGradWeight", {comparison.blocked(output_dims(test)), comparison.blocked(test.x)}, 1, attributes));
    comparison.outputs(builder.emit_training_many(
        "ConvGradWeight", {comparison.blocked(output_dims(test)), comparison.input(test.x)}, 2, attributes));
    comparison.check("ConvGradWeight");
  }
}

// Shapes with and without a channel count that fills whole blocks.
std::vector<Dims> image_shapes() {
  return {{3, 32, 9, 9}, {2, 16, 7, 5}, {2, 48, 15, 15}, {2, 5, 8, 8}, {1, 24, 4, 4}};
}

TEST_CASE("BatchNormalizationTraining and its gradient") {
  for (const Dims& dims : {Dims{3, 32, 9, 9}, Dims{2, 5, 8, 8}, Dims{4, 3, 20}, Dims{2, 16, 3, 4, 5}, Dims{6, 4}}) {
    for (const std::string activation : {"", "Relu"}) {
      for (const bool blocked : {false, true}) {
        if (blocked && dims.size() == 2) continue;
        INFO("x ", to_string(dims), " activation '", activation, "' blocked ", blocked);
        KernelComparison comparison;
        graph::Builder& builder = comparison.builder();
        const Dims channels{dims[1]};
        Value* x = blocked ? comparison.blocked(dims) : comparison.input(dims, 3, 0.5);
        Value* scale = comparison.parameter(channels, 1, 0.3);
        Value* shift = comparison.parameter(channels);
        const auto forward = builder.emit_training_many(
            "BatchNormalizationTraining",
            {x, scale, shift, comparison.input(channels), comparison.input(channels, 2, 0.1)}, 5,
            {{"epsilon", 1e-3f}, {"momentum", 0.9f}, {"activation", activation}});
        comparison.outputs(forward);
        Value* dy = blocked ? comparison.blocked(dims) : comparison.input(dims);
        comparison.outputs(builder.emit_training_many("BatchNormalizationGrad",
                                                      {dy, x, scale, forward[3], forward[4], forward[0]}, 3,
                                                      {{"epsilon", 1e-3f}, {"activation", activation}}));
        // Short row-major channels are left to the plain kernel.
        comparison.check(dims.size() == 2 ? "" : "BatchNormalizationTraining", 1e-4);
        comparison.check(dims.size() == 2 ? "" : "BatchNormalizationGrad", 1e-4);
      }
    }
  }
}

TEST_CASE("the pieces of a synchronized BatchNormalization") {
  for (const Dims& dims : {Dims{3, 32, 9, 9}, Dims{2, 5, 8, 8}, Dims{4, 3, 20}, Dims{2, 16, 3, 4, 5}}) {
    for (const std::string activation : {"", "Relu"}) {
      for (const bool blocked : {false, true}) {
        INFO("x ", to_string(dims), " activation '", activation, "' blocked ", blocked);
        KernelComparison comparison;
        graph::Builder& builder = comparison.builder();
        const Dims channels{dims[1]};
        const auto activations = [&] { return blocked ? comparison.blocked(dims) : comparison.input(dims); };
        Value *x = activations(), *dy = activations(), *y = activations();
        Value* mean = comparison.input(channels);
        Value* variance = comparison.input(channels, 2, 0.1);
        comparison.output(builder.emit_training("ChannelSum", {x}));
        comparison.output(builder.emit_training("ChannelSquaredDeviation", {x, mean}));
        graph::Attributes attributes = {{"epsilon", 1e-3f}, {"activation", activation}};
        const auto sums =
            builder.emit_training_many("BatchNormalizationGradSums", {dy, x, mean, variance, y}, 2, attributes);
        comparison.outputs(sums);
        attributes["count"] = std::int64_t{2 * element_count(dims) / dims[1]};
        comparison.output(builder.emit_training(
            "BatchNormalizationGradInput",
            {dy, x, comparison.parameter(channels, 1, 0.3), mean, variance, sums[0], sums[1], y}, attributes));
        for (const char* op_type :
             {"ChannelSum", "ChannelSquaredDeviation", "BatchNormalizationGradSums", "BatchNormalizationGradInput"}) {
          comparison.check(op_type, 1e-4);
        }
#ifdef __x86_64__
        // Channels that fill whole blocks stay in them; elsewhere convolutions may like another layout.
        if (blocked && dims[1] % 16 == 0) CHECK(comparison.ran("ChannelSum", "own blocked"));
#endif
      }
    }
  }
}

TEST_CASE("BatchNormalization in inference") {
  for (const Dims& dims : image_shapes()) {
    INFO("x ", to_string(dims));
    KernelComparison comparison;
    const Dims channels{dims[1]};
    for (Value* x : {comparison.input(dims), comparison.blocked(dims)}) {
      comparison.output(comparison.builder().emit(
          "BatchNormalization", {x, comparison.parameter(channels), comparison.parameter(channels),
                                 comparison.parameter(channels), comparison.parameter(channels, 2, 0.1)}));
    }
    comparison.check("BatchNormalization");
  }
}

struct PoolCase {
  Dims kernel, strides, pads, dilations{1, 1};
  std::int64_t ceil_mode = 0;
};

std::vector<PoolCase> pool_cases() {
  return {{{3, 3}, {2, 2}, {0, 0, 0, 0}},
          {{2, 2}, {2, 2}, {0, 0, 0, 0}},
          {{3, 3}, {2, 2}, {1, 1, 1, 1}},
          {{3, 2}, {1, 3}, {1, 0, 0, 1}},
          {{3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
          {{2, 2}, {1, 1}, {0, 0, 0, 0}, {2, 1}}};
}

Attributes attributes_of(const PoolCase& test) {
  return {{"kernel_shape", test.kernel},
          {"strides", test.strides},
          {"pads", test.pads},
          {"dilations", test.dilations},
          {"ceil_mode", test.ceil_mode}};
}

TEST_CASE("MaxPool and its gradient, ties included") {
  for (const Dims& dims : image_shapes()) {
    for (const PoolCase& test : pool_cases()) {
      INFO("x ", to_string(dims), " kernel ", to_string(test.kernel), " strides ", to_string(test.strides));
      KernelComparison comparison;
      for (Value* x : {comparison.input(dims), comparison.blocked(dims)}) {
        Value* y = comparison.builder().emit("MaxPool", {x}, attributes_of(test));
        Value* dy = comparison.input(y->dims());
        comparison.output(y);
        comparison.output(comparison.builder().emit_training("MaxPoolGrad", {dy, x, y}, attributes_of(test)));
      }
      comparison.check("MaxPool", 0);
      comparison.check("MaxPoolGrad");
    }
  }
}

TEST_CASE("a NaN in the window is its maximum") {
  KernelComparison comparison;
  Tensor elements(DataType::float32, {1, 1, 4, 4});
  for (int i = 0; i < 16; ++i) elements.data<float>()[i] = static_cast<float>(i);
  elements.data<float>()[2] = NAN;
  elements.data<float>()[6] = NAN;
  const Attributes attributes{{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}};
  Value* x = comparison.feed(elements);
  Value* y = comparison.builder().emit("MaxPool", {x}, attributes);
  comparison.output(y);
  comparison.output(
      comparison.builder().emit_training("MaxPoolGrad", {comparison.input({1, 1, 2, 2}), x, y}, attributes));
  comparison.check("MaxPool");
}

TEST_CASE("AveragePool and its gradient") {
  for (const Dims& dims : image_shapes()) {
    for (const PoolCase& test : pool_cases()) {
      for (const std::int64_t count_padding : {0, 1}) {
        INFO("x ", to_string(dims), " kernel ", to_string(test.kernel), " strides ", to_string(test.strides),
             " count_include_pad ", count_padding);
        KernelComparison comparison;
        Attributes attributes = attributes_of(test);
        attributes["count_include_pad"] = count_padding;
        Dims out;
        for (Value* x : {comparison.input(dims), comparison.blocked(dims)}) {
          Value* y = comparison.builder().emit("AveragePool", {x}, attributes);
          comparison.output(y);
          out = y->dims();
        }
        attributes["input_shape"] = dims;
        for (Value* dy : {comparison.input(out), comparison.blocked(out)}) {
          comparison.output(comparison.builder().emit_training("AveragePoolGrad", {dy}, attributes));
        }
        // oneDNN has no fast code for dilated pools, and other rules for counted padding with ceil_mode.
        const bool is_plain = (test.ceil_mode != 0 && count_padding != 0) || test.dilations != Dims{1, 1};
        comparison.check(is_plain ? "" : "AveragePool");
        comparison.check(is_plain ? "" : "AveragePoolGrad");
      }
    }
  }
}

TEST_CASE("GlobalAveragePool and the Expand of its gradient") {
  for (const Dims& dims : image_shapes()) {
    INFO("x ", to_string(dims));
    KernelComparison comparison;
    comparison.output(comparison.builder().emit("GlobalAveragePool", {comparison.input(dims)}));
    comparison.output(comparison.builder().emit("GlobalAveragePool", {comparison.blocked(dims)}));
    comparison.output(comparison.builder().expand(comparison.input({dims[0], dims[1], 1, 1}), dims));
    comparison.check("GlobalAveragePool");
    comparison.check(dims[1] % 16 == 0 ? "Expand" : "");
  }
}

TEST_CASE("elementwise operators in any format") {
  for (const Dims& dims : image_shapes()) {
    INFO("x ", to_string(dims));
    KernelComparison comparison;
    graph::Builder& builder = comparison.builder();
    Value* plain = comparison.input(dims);
    Value* blocked = comparison.blocked(dims);
    for (const char* op : {"Relu", "LeakyRelu", "Neg", "Abs"}) {
      for (Value* x : {plain, blocked}) comparison.output(builder.emit(op, {x}));
    }
    comparison.output(builder.emit("Reciprocal", {builder.emit("Abs", {plain})}));
    comparison.output(builder.emit("Sqrt", {builder.emit("Abs", {blocked})}));
    Value* number = builder.scalar(1.5, DataType::float32);
    for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
      comparison.output(builder.emit(op, {plain, blocked}));
      comparison.output(builder.emit(op, {blocked, number}));
      comparison.output(builder.emit(op, {number, plain}));
    }
    comparison.output(builder.emit("Add", {plain, plain}));
    comparison.output(builder.emit("Sum", {plain, blocked, plain}));
    for (const char* op : {"ReluGrad", "SigmoidGrad", "TanhGrad"}) {
      comparison.output(builder.emit_training(op, {plain, blocked}));
      comparison.output(builder.emit_training(op, {blocked, blocked}));
    }
    for (const char* op : {"Relu", "Add", "Sub", "Mul", "Div", "Sum", "ReluGrad"}) comparison.check(op);
  }
}

TEST_CASE("operands that broadcast") {
  KernelComparison comparison;
  graph::Builder& builder = comparison.builder();
  Value* x = comparison.blocked({2, 16, 3, 4});
  comparison.output(builder.add(x, comparison.input({16, 1, 1})));
  comparison.output(builder.mul(comparison.input({4}), x));
  comparison.output(builder.sub(x, comparison.input({2, 1, 3, 1})));
  comparison.output(builder.add(comparison.input({1}), comparison.input({3})));
  comparison.output(builder.add(comparison.input({1, 1}), comparison.input({3})));
  comparison.check("");
}

TEST_CASE("Concat and Split") {
  for (const std::vector<std::int64_t>& channels : {std::vector<std::int64_t>{32, 16, 48}, {5, 16}, {7, 9, 1}}) {
    KernelComparison comparison;
    graph::Builder& builder = comparison.builder();
    std::int64_t all = 0;
    std::vector<Value*> parts;
    for (const std::int64_t c : channels) {
      parts.push_back(c % 2 == 0 ? comparison.blocked({2, c, 5, 5}) : comparison.input({2, c, 5, 5}));
      all += c;
    }
    comparison.output(builder.emit("Concat", parts, {{"axis", std::int64_t{1}}}));
    for (Value* whole : {comparison.blocked({2, all, 5, 5}), comparison.input({2, all, 5, 5})}) {
      comparison.outputs(builder.emit_many("Split", {whole, builder.int64s(channels)},
                                           static_cast<int>(channels.size()), {{"axis", std::int64_t{1}}}));
    }
    comparison.output(builder.emit("Concat", {parts[0], parts[0]}, {{"axis", std::int64_t{-2}}}));
    comparison.check("Concat", 0);
    comparison.check("Split", 0);
  }
}

TEST_CASE("Gemm") {
  for (const std::int64_t transpose_a : {0, 1}) {
    for (const std::int64_t transpose_b : {0, 1}) {
      for (const Dims& c : {Dims{}, Dims{7}, Dims{1, 7}, Dims{5, 1}, Dims{5, 7}}) {
        for (const float alpha : {1.0f, 0.5f}) {
          INFO("transA ", transpose_a, " transB ", transpose_b, " c ", to_string(c), " alpha ", alpha);
          KernelComparison comparison;
          Value* a = comparison.input(transpose_a ? Dims{11, 5} : Dims{5, 11});
          Value* b = comparison.parameter(transpose_b ? Dims{7, 11} : Dims{11, 7});
          std::vector<Value*> operands{a, b};
          if (!c.empty()) operands.push_back(comparison.parameter(c));
          comparison.output(comparison.builder().emit(
              "Gemm", operands, {{"transA", transpose_a}, {"transB", transpose_b}, {"alpha", alpha}}));
          // oneDNN has no fast code for a column that is added.
          comparison.check(c == Dims{5, 1} ? "" : "Gemm");
        }
      }
    }
  }
  KernelComparison comparison;
  comparison.output(comparison.builder().emit(
      "Gemm", {comparison.input({5, 11}), comparison.input({11, 7}), comparison.input({7})}, {{"beta", 2.0f}}));
  comparison.check("");
}

TEST_CASE("MatMul") {
  const std::vector<std::pair<Dims, Dims>> cases = {{{5, 11}, {11, 7}},           {{2, 3, 5, 11}, {11, 7}},
                                                    {{2, 3, 5, 4}, {2, 3, 4, 6}}, {{3, 5, 4}, {2, 1, 4, 6}},
                                                    {{5, 4}, {3, 4, 6}},          {{1, 1}, {1, 1}}};
  for (const auto& operands : cases) {
    const Dims &a = operands.first, &b = operands.second;
    INFO(to_string(a), " x ", to_string(b));
    KernelComparison comparison;
    comparison.output(comparison.builder().emit("MatMul", {comparison.input(a), comparison.input(b)}));
    comparison.check("MatMul");
  }
  KernelComparison comparison;
  comparison.output(comparison.builder().emit("MatMul", {comparison.input({4}), comparison.input({4, 3})}));
  comparison.check("");
}

TEST_CASE("Softmax, LogSoftmax and their gradients") {
  for (const Dims& dims : {Dims{4, 10}, Dims{2, 3, 17}, Dims{2, 5, 4, 3}}) {
    for (const std::int64_t axis : {std::int64_t{-1}, std::int64_t{1}}) {
      KernelComparison comparison;
      graph::Builder& builder = comparison.builder();
      Value* x = comparison.input(dims, 0, 5);
      for (const std::string op : {"Softmax", "LogSoftmax"}) {
        Value* y = builder.emit(op, {x}, {{"axis", axis}});
        comparison.output(y);
        comparison.output(builder.emit_training(op + "Grad", {comparison.input(dims), y}, {{"axis", axis}}));
      }
      const bool is_last = axis == -1 || dims.size() == 2;
      for (const char* op : {"Softmax", "LogSoftmax", "SoftmaxGrad", "LogSoftmaxGrad"}) {
        comparison.check(is_last ? op : "");
      }
    }
  }
}

TEST_CASE("a masked Softmax and one that met a NaN") {
  KernelComparison comparison;
  Tensor elements(DataType::float32, {3, 20});
  for (int i = 0; i < 60; ++i) elements.data<float>()[i] = static_cast<float>(i % 7);
  for (int i = 3; i < 11; ++i) elements.data<float>()[i] = -INFINITY;
  elements.data<float>()[25] = NAN;
  Value* x = comparison.feed(elements);
  comparison.output(comparison.builder().emit("Softmax", {x}, {{"axis", std::int64_t{1}}}));
  comparison.check("Softmax");
}

TEST_CASE("Exp, Sigmoid and Tanh, from the smallest to the largest results") {
  std::vector<float> numbers{0.0f,     -0.0f,     1e-30f, 0.6249f, 0.6251f, -0.6251f,
                             INFINITY, -INFINITY, NAN,    200.0f,  -200.0f};
  for (float x = -105; x < 91; x += 0.37f) numbers.push_back(x);
  for (float x = -3; x < 3; x += 0.013f) numbers.push_back(x);
  const auto device = make_cpu_device(1);
  for (const std::string op : {"Exp", "Sigmoid", "Tanh"}) {
    graph::Graph graph;
    graph.opsets[""] = 24;
    const Dims dims{static_cast<std::int64_t>(numbers.size())};
    graph::Value* x = graph.add_input("x", graph::Type(DataType::float32, dims));
    graph.add_output(graph::Builder(graph).emit(op, {x}));
    const auto executable = device->compile(graph, device->make_state(), {.profile = true});
    executable->set_input("x", Tensor::of<float>(dims, numbers));
    executable->run();
    CHECK(executable->profile()[0].kernel == "own flat");
    const Tensor y = executable->output(graph.outputs()[0]->name());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double exact = static_cast<double>(numbers[i]);
      const double expected = op == "Exp"    ? std::exp(exact)
                              : op == "Tanh" ? std::tanh(exact)
                                             : 1 / (1 + std::exp(-exact));
      const auto rounded = static_cast<float>(expected);
      const float got = y.data<float>()[i];
      INFO(op, " of ", numbers[i], " is ", got, ", expected ", rounded);
      if (std::isnan(expected)) {
        CHECK(std::isnan(got));
      } else if (std::isinf(rounded)) {
        CHECK(got == rounded);
      } else {
        // Results below the smallest normal float have fewer digits.
        CHECK(std::abs(static_cast<double>(got) - expected) <= 4e-7 * std::abs(expected) + 1.5e-45);
      }
    }
  }
}

TEST_CASE("SgdUpdate") {
  for (const float momentum : {0.0f, 0.9f}) {
    for (const std::int64_t nesterov : {0, 1}) {
      for (const float decay : {0.0f, 1e-2f}) {
        KernelComparison comparison;
        std::vector<Value*> operands{comparison.parameter({300, 301}), comparison.input({300, 301}),
                                     comparison.feed(Tensor::scalar(0.1f))};
        if (momentum != 0) operands.push_back(comparison.parameter({300, 301}));
        comparison.outputs(comparison.builder().emit_training_many(
            "SgdUpdate", operands, momentum != 0 ? 2 : 1,
            {{"momentum", momentum}, {"nesterov", nesterov}, {"weight_decay", decay}}));
        comparison.check("SgdUpdate", 1e-6);
      }
    }
  }
}

TEST_CASE("AdamUpdate") {
  for (const std::int64_t decoupled : {0, 1}) {
    KernelComparison comparison;
    Value* step = comparison.feed(Tensor::scalar(std::int64_t{3}));
    comparison.outputs(comparison.builder().emit_training_many(
        "AdamUpdate",
        {comparison.parameter({77}), comparison.input({77}), comparison.feed(Tensor::scalar(0.1f)), step,
         comparison.parameter({77}), comparison.parameter({77}, 1, 0.1)},
        3, {{"weight_decay", 1e-2f}, {"decoupled", decoupled}}));
    comparison.check("AdamUpdate", 1e-6);
  }
}

}  // namespace
}  // namespace ort_train::runtime
