// Arrays without elements on a virtual GPU: the results are those of the CPU, and no call that CUDA refuses is made.
#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "runtime/cuda/device.h"
#include "runtime/executable.h"
#include "tests/kernel_case.h"
#include "tests/virtual_gpu/testing.h"

namespace ort_train::runtime {
namespace {

std::unique_ptr<graph::Graph> parse(const std::string& body) {
  return graph::parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.ort_train\" : 1]>\ng " + body);
}

/// Runs more than once, so that a captured step is replayed.
std::map<std::string, Tensor> outputs_of(const graph::Graph& graph, Device& device) {
  const auto executable = device.compile(graph, device.make_state());
  for (int run = 0; run < 3; ++run) {
    for (const graph::Value* input : graph.inputs()) {
      executable->set_input(input->name(), tests::sample(input->dims(), 0, DataType::float64).cast(input->dtype()));
    }
    executable->run();
  }
  std::map<std::string, Tensor> outputs;
  for (const graph::Value* output : graph.outputs()) outputs[output->name()] = executable->output(output->name());
  return outputs;
}

void check_like_cpu(const graph::Graph& graph, const std::string& what) {
  const auto expected = outputs_of(graph, *make_cpu_device(1));
  for (const bool capture : {false, true}) {
    INFO(what, capture ? " captured" : "");
    const auto outputs = outputs_of(graph, *make_cuda_device(0, {.capture = capture}));
    for (const auto& [name, elements] : expected) CHECK(outputs.at(name).identical(elements));
    CHECK(virtual_gpu::testing::reported() == virtual_gpu::testing::Kinds{});
  }
}

void check_all(const std::vector<std::string>& bodies) {
  for (const std::string& body : bodies) check_like_cpu(*parse(body), body);
}

TEST_CASE("elementwise operators") {
  check_all({
      "(float[0,3] x) => (float[0,3] y) { y = Relu(x) }",
      "(float[0,3] x, float[3] b) => (float[0,3] y) { y = Add(x, b) }",
      "(float[0,3] x) => (bool[0,3] y) { y = Greater(x, x) }",
      "(float[0,3] x) => (float[0,3] y) { c = Cast<to = 9>(x)  y = Where(c, x, x) }",
      "(float[0,3] x) => (int32[0,3] y) { y = Cast<to = 6>(x) }",
      "(float[0,3] x) => (float[0,3] y) { y = Gelu(x) }",
      "(float[2,0] x) => (float[2,0] y) { y = Clip(x) }",
  });
}

TEST_CASE("reductions") {
  check_all({
      "(float[0,3] x) => (float[3] y) <int64[1] a = {0}> { y = ReduceSum<keepdims = 0>(x, a) }",
      "(float[2,0] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceSum(x, a) }",
      "(float[2,0] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceProd(x, a) }",
      "(float[0,3] x) => (float[0,1] y) <int64[1] a = {1}> { y = ReduceMax(x, a) }",
      "(float[0,3] x) => (int64[0,1] y) { y = ArgMax<axis = 1>(x) }",
      "(float[0,3] x) => (float[0,3] y) { y = Softmax(x) }",
      "(float[0,3] x) => (float[0,3] y) <int64 a = {0}> { y = CumSum(x, a) }",
  });
}

TEST_CASE("products and windows") {
  check_all({
      "(float[2,0] a, float[0,3] b) => (float[2,3] y) { y = MatMul(a, b) }",
      "(float[0,2] a, float[2,3] b) => (float[0,3] y) { y = MatMul(a, b) }",
      "(float[2,0] a, float[0,3] b, float[3] c) => (float[2,3] y) { y = Gemm(a, b, c) }",
      "(float[0,2,5,5] x, float[3,2,3,3] w) => (float[0,3,3,3] y) { y = Conv(x, w) }",
      "(float[0,2,4,4] x) => (float[0,2,2,2] y) { y = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x) }",
      "(float[0,2,4,4] x) => (float[0,2,2,2] y) { y = AveragePool<kernel_shape = [2,2], strides = [2,2]>(x) }",
      "(float[0,2,4,4] x) => (float[0,2,1,1] y) { y = GlobalAveragePool(x) }",
  });
}

TEST_CASE("normalizations") {
  check_all({
      "(float[0,3] x, float[3] s, float[3] b) => (float[0,3] y) { y = LayerNormalization(x, s, b) }",
      "(float[0,4,2] x, float[4] s, float[4] b) => (float[0,4,2] y)"
      " { y = GroupNormalization<num_groups = 2>(x, s, b) }",
      "(float[0,4,2,2] x) => (float[0,4,2,2] y) { y = LRN<size = 3>(x) }",
      "(float[0,2,3,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[0,2,3,3] y)"
      " { y = BatchNormalization(x, s, b, m, v) }",
  });
}

TEST_CASE("operators that move elements") {
  check_all({
      "(float[0,3] x) => (float[3,0] y) { y = Transpose(x) }",
      "(float[0,3] x, float[2,3] z) => (float[2,3] y) { y = Concat<axis = 0>(x, z) }",
      "(float[2,3] x) => (float[0,3] a, float[2,3] b) <int64[2] s = {0, 2}> { a, b = Split<axis = 0>(x, s) }",
      "(float[2,3] x) => (float[2,0] y) <int64[1] f = {1}, int64[1] a = {1}> { y = Slice(x, f, f, a) }",
      "(float[0,3] x) => (float[2,3] y) <int64[4] p = {1, 0, 1, 0}> { y = Pad(x, p) }",
      "(float[0,1] x) => (float[0,3] y) <int64[2] s = {0, 3}> { y = Expand(x, s) }",
      "(float[0,3] x) => (float[3,0] y) <int64[2] s = {3, 0}> { y = Reshape<allowzero = 1>(x, s) }",
      "(float[0,3,3] x) => (float[0,3,3] y) { y = Trilu(x) }",
      "(float[2,3] x) => (float[0,3] y) <int64[0] i = {}> { y = Gather(x, i) }",
      "(float[2,3] x) => (float[2,0] y) <int64[2,0] i = {}> { y = GatherElements<axis = 1>(x, i) }",
      "(float[2,3] x) => (float[0,3] y) <int64[0,1] i = {}> { y = GatherND(x, i) }",
      "(float[2,3] x, float[0,3] u) => (float[2,3] y) <int64[0,3] i = {}> { y = ScatterElements(x, i, u) }",
      "(float[2,3] x, float[0,3] u) => (float[2,3] y) <int64[0,1] i = {}> { y = ScatterND(x, i, u) }",
      "(float[0,3] d) => (float[2,3] y) <int64[0] i = {}> { y = ai.ort_train.GatherGrad<input_shape = [2, 3]>(d, i) }",
      "(int64[0] x, float[2] v) => (float[0,4] y) <int64 d = {4}> { y = OneHot(x, d, v) }",
  });
}

TEST_CASE("losses and metrics of no samples") {
  check_all({
      "(float[0,3] x, int64[0] l) => (float s, float c) { s, c = ai.ort_train.SoftmaxCrossEntropy(x, l) }",
      "(float[0,3] x, int64[0] l) => (float s, float c) { s, c = ai.ort_train.NegativeLogLikelihood(x, l) }",
      "(float[0,3] x, int64[0] l) => (float s, float c) { s, c = ai.ort_train.TopKCorrect(x, l) }",
      "(float d, float[0,3] x, int64[0] l) => (float[0,3] y) { y = ai.ort_train.SoftmaxCrossEntropyGrad(d, x, l) }",
      "(float[0,3] x) => (float s, float c) { s, c = ai.ort_train.SquaredError(x, x) }",
      "(int64[0] l) => (float c) { c = ai.ort_train.LabelCount<to = 1>(l) }",
  });
}

TEST_CASE("a state of no elements takes its update") {
  auto graph = parse("(float[0] x) => (float[0] y) <float[0] w = {}> { y = Mul(w, x)  next = Identity(x) }");
  graph->at("w")->set_role(graph::Role::parameter);
  graph->add_update(graph->at("w"), graph->at("next"));
  check_like_cpu(*graph, "update");
}

}  // namespace
}  // namespace ort_train::runtime
