#include "passes/autodiff.h"

#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "graph/shape_inference.h"
#include "graph/verifier.h"
#include "tests/pass_check.h"

namespace ort_train::tests {
namespace {

using graph::Graph;
using graph::Value;

std::unique_ptr<Graph> parse(const std::string& body) {
  auto graph = graph::parse_text(with_header(body));
  graph::infer_types(*graph);
  return graph;
}

std::vector<Value*> values(const Graph& graph, const std::vector<std::string>& names) {
  std::vector<Value*> found;
  found.reserve(names.size());
  for (const std::string& name : names) found.push_back(graph.at(name));
  return found;
}

/// Differentiates the value "loss" and makes the gradients the outputs, in the order of `wanted`.
std::unique_ptr<Graph> differentiated(const std::string& body, const std::vector<std::string>& wanted) {
  auto graph = parse(body);
  const auto gradients = passes::add_gradients(*graph, graph->at("loss"), values(*graph, wanted));
  std::vector<Value*> outputs;
  for (Value* value : values(*graph, wanted)) outputs.push_back(gradients.at(value));
  graph->set_outputs(outputs);
  graph::verify(*graph, "autodiff");
  return graph;
}

void check_gradients(const std::string& before, const std::vector<std::string>& wanted, const std::string& after) {
  CHECK(body_of(*differentiated(before, wanted)) == body_of(*parse(after)));
}

std::string error_of(const std::string& body, const std::vector<std::string>& wanted) {
  try {
    differentiated(body, wanted);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The loss is 1 * s, so that the gradient of s is the seed.
TEST_CASE("a chain of nodes") {
  check_gradients("g (float x) => (float loss) { y = Exp(x) loss = Sin(y) }", {"x"}, R"(
    g (float x) => (float "x.gradient") <float "loss.gradient" = {1}> {
      y = Exp(x)
      loss = Sin(y)
      ["loss.backward.Cos"] "loss.backward.Cos" = Cos(y)
      ["loss.backward.Mul"] "y.gradient" = Mul("loss.gradient", "loss.backward.Cos")
      ["y.backward.Mul"] "x.gradient" = Mul("y.gradient", y)
    })");
}

TEST_CASE("what a broadcast value received is summed") {
  check_gradients("g (float[2,3] x, float[3] b) => (float loss) { y = Add(x, b) loss = ReduceSum<keepdims = 0>(y) }",
                  {"b"}, R"(
    g (float[2,3] x, float[3] b) => (float[3] "b.gradient")
    <float "loss.gradient" = {1}, int64[2] "loss.backward.constant" = {1, 1},
     int64[2] "loss.backward.constant.2" = {2, 3}, int64[1] "y.backward.constant" = {0},
     int64[1] "y.backward.constant.1" = {3}> {
      y = Add(x, b)
      loss = ReduceSum<keepdims = 0>(y)
      ["loss.backward.Reshape"] "loss.backward.Reshape" =
        Reshape<allowzero = 1>("loss.gradient", "loss.backward.constant")
      ["loss.backward.Expand"] "y.gradient" = Expand("loss.backward.Reshape", "loss.backward.constant.2")
      ["y.backward.ReduceSum"] "y.backward.ReduceSum" =
        ReduceSum<keepdims = 1, noop_with_empty_axes = 1>("y.gradient", "y.backward.constant")
      ["y.backward.Reshape"] "b.gradient" = Reshape<allowzero = 1>("y.backward.ReduceSum", "y.backward.constant.1")
    })");
}

TEST_CASE("two gradients of a value are added, also when one node gives both") {
  check_gradients("g (float x) => (float loss) { loss = Mul(x, x) }", {"x"}, R"(
    g (float x) => (float "x.gradient") <float "loss.gradient" = {1}> {
      loss = Mul(x, x)
      ["loss.backward.Mul"] "loss.backward.Mul" = Mul("loss.gradient", x)
      ["loss.backward.Mul.1"] "loss.backward.Mul.1" = Mul("loss.gradient", x)
      ["x.backward.Add"] "x.gradient" = Add("loss.backward.Mul", "loss.backward.Mul.1")
    })");
}

TEST_CASE("three gradients of a value are summed at once") {
  check_gradients("g (float x) => (float loss) { a = Exp(x) b = Neg(x) loss = Sum(a, b, x) }", {"x"}, R"(
    g (float x) => (float "x.gradient") <float "loss.gradient" = {1}> {
      a = Exp(x)
      b = Neg(x)
      loss = Sum(a, b, x)
      ["b.backward.Neg"] "b.backward.Neg" = Neg("loss.gradient")
      ["a.backward.Mul"] "a.backward.Mul" = Mul("loss.gradient", a)
      ["x.backward.Sum"] "x.gradient" = Sum("loss.gradient", "b.backward.Neg", "a.backward.Mul")
    })");
}

TEST_CASE("only what is wanted is computed") {
  // Nothing for x, which stands in front of the wanted weight.
  check_gradients("g (float x, float w) => (float loss) { y = Exp(x) loss = Mul(y, w) }", {"w"}, R"(
    g (float x, float w) => (float "w.gradient") <float "loss.gradient" = {1}> {
      y = Exp(x)
      loss = Mul(y, w)
      ["loss.backward.Mul"] "w.gradient" = Mul("loss.gradient", y)
    })");
  // Nothing for the branch z, on which the loss does not depend.
  check_gradients("g (float x) => (float loss, float z) { z = Exp(x) loss = Neg(x) }", {"x"}, R"(
    g (float x) => (float "x.gradient") <float "loss.gradient" = {1}> {
      z = Exp(x)
      loss = Neg(x)
      ["loss.backward.Neg"] "x.gradient" = Neg("loss.gradient")
    })");
}

TEST_CASE("gradients of intermediate values, and of the loss itself") {
  check_gradients("g (float x) => (float loss) { y = Exp(x) loss = Neg(y) }", {"x", "y", "loss"}, R"(
    g (float x) => (float "x.gradient", float "y.gradient", float "loss.gradient") <float "loss.gradient" = {1}> {
      y = Exp(x)
      loss = Neg(y)
      ["loss.backward.Neg"] "y.gradient" = Neg("loss.gradient")
      ["y.backward.Mul"] "x.gradient" = Mul("y.gradient", y)
    })");
}

TEST_CASE("no dependence gives zeros") {
  const std::string zeros = R"(
    g (float x, float[2] z) => (float[2] "z.gradient") <float[2] "z.gradient" = {0, 0}> { loss = Exp(x) })";
  check_gradients("g (float x, float[2] z) => (float loss) { loss = Exp(x) }", {"z"}, zeros);
}

TEST_CASE("rounding, integers and conditions stop a gradient") {
  check_gradients("g (float x) => (float loss) { y = Floor(x) loss = Add(x, y) }", {"x"}, R"(
    g (float x) => (float "loss.gradient") <float "loss.gradient" = {1}> { y = Floor(x) loss = Add(x, y) })");
  check_gradients("g (float x) => (float loss) { i = Cast<to = 7>(x) loss = Cast<to = 1>(i) }", {"x"}, R"(
    g (float x) => (float "x.gradient") <float "x.gradient" = {0}> { i = Cast<to = 7>(x) loss = Cast<to = 1>(i) })");
  check_gradients("g (float x) => (float loss) <float zero = {0}> { c = Less(x, zero) loss = Where(c, zero, x) }",
                  {"x"}, R"(
    g (float x) => (float "x.gradient")
    <float zero = {0}, float "loss.gradient" = {1}, float "loss.backward.constant" = {0}> {
      c = Less(x, zero)
      loss = Where(c, zero, x)
      ["loss.backward.Where"] "x.gradient" = Where(c, "loss.backward.constant", "loss.gradient")
    })");
}

TEST_CASE("outputs of a split that nobody uses count as zero") {
  check_gradients("g (float[2] x) => (float[1] loss) { a, loss = Split<num_outputs = 2>(x) }", {"x"}, R"(
    g (float[2] x) => (float[2] "x.gradient")
    <float[1] "loss.gradient" = {1}, float "a.backward.constant" = {0}, int64[1] "a.backward.constant.1" = {1}> {
      a, loss = Split<num_outputs = 2>(x)
      ["a.backward.Expand"] "a.backward.Expand" = Expand("a.backward.constant", "a.backward.constant.1")
      ["a.backward.Concat"] "x.gradient" = Concat<axis = 0>("a.backward.Expand", "loss.gradient")
    })");
}

TEST_CASE("a loss divided by its count: no gradient through the count") {
  check_gradients(R"(
    g (float[2,3] x, int64[2] labels) => (float loss) {
      sum, count, p = ai.ort_train.SoftmaxCrossEntropy(x, labels)
      loss = Div(sum, count)
    })",
                  {"x"}, R"(
    g (float[2,3] x, int64[2] labels) => (float[2,3] "x.gradient") <float "loss.gradient" = {1}> {
      sum, count, p = ai.ort_train.SoftmaxCrossEntropy(x, labels)
      loss = Div(sum, count)
      ["loss.backward.Div"] "sum.gradient" = Div("loss.gradient", count)
      ["sum.backward.SoftmaxCrossEntropyGrad"] "x.gradient" =
        ai.ort_train.SoftmaxCrossEntropyGrad("sum.gradient", p, labels)
    })");
}

TEST_CASE("names of nodes are used, and a taken name is avoided") {
  check_gradients(R"(
    g (float x) => (float loss, float "x.gradient") { ["exp"] loss = Exp(x) "x.gradient" = Neg(x) })",
                  {"x"}, R"(
    g (float x) => (float "x.gradient.1") <float "loss.gradient" = {1}> {
      ["exp"] loss = Exp(x)
      "x.gradient" = Neg(x)
      ["exp.backward.Mul"] "x.gradient.1" = Mul("loss.gradient", loss)
    })");
}

TEST_CASE("all nodes without a gradient are named in one error") {
  const std::string body = R"(
    g (float[1,1,2,2] x, float[1,1,2,2] frozen) => (float loss) {
      ["first"] a = Det(x)
      ["second"] n = GlobalLpPool(x)
      c = Det(n)
      b = Add(a, c)
      ["third"] d = Det(frozen)
      e = Add(b, d)
      loss = ReduceSum<keepdims = 0>(e)
    })";
  const std::string message = error_of(body, {"x"});
  CHECK(contains(message, "3 nodes"));
  CHECK(contains(message, "Det 'first'"));
  CHECK(contains(message, "GlobalLpPool 'second'"));
  CHECK(contains(message, "Det 'c'"));
  CHECK_FALSE(contains(message, "third"));

  const auto graph = parse(body);
  const auto nodes = passes::nodes_without_gradient(*graph, {graph->at("x")}, {graph->at("loss")});
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0]->name() == "first");
  CHECK(nodes[1]->name() == "second");
  CHECK(passes::nodes_without_gradient(*graph, {}, {graph->at("loss")}).empty());
  CHECK(passes::nodes_without_gradient(*graph, {graph->at("frozen")}, {graph->at("c")}).empty());
}

TEST_CASE("all attributes in the way are named in one error") {
  const std::string message = error_of(R"(
    g (float[2] x) => (float loss) <int64[1] i = {0}, float[1] u = {2}> {
      a = ScatterElements<reduction = "mul">(x, i, u)
      b = ScatterElements<reduction = "max">(x, i, u)
      c = Add(a, b)
      loss = ReduceSum<keepdims = 0>(c)
    })",
                                       {"x"});
  CHECK(contains(message, "2 nodes"));
  CHECK(contains(message, "'mul'"));
  CHECK(contains(message, "'max'"));
}

TEST_CASE("the nodes in the way are found before extents are known") {
  const auto graph = parse("g (float[N,2,2] x) => (float[N] y) { a = Det(x) y = Exp(a) }");
  CHECK(passes::nodes_without_gradient(*graph, {graph->at("x")}, {graph->at("y")}).size() == 1);
}

TEST_CASE("control flow, whose body may read anything, is in the way") {
  const auto graph = parse(R"(
    g (float x, bool c) => (float loss) {
      loss = If(c) <then_branch = yes () => (float a) { a = Exp(x) }, else_branch = no () => (float b) { b = Neg(x) }>
    })");
  const auto nodes = passes::nodes_without_gradient(*graph, {graph->at("x")}, {graph->at("loss")});
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0]->op_type() == "If");
}

TEST_CASE("a loss is one floating-point number, and only such values have gradients") {
  CHECK(contains(error_of("g (float[2] x) => (float[2] loss) { loss = Exp(x) }", {"x"}), "float32[2]"));
  CHECK(contains(error_of("g (int64 x) => (int64 loss) { loss = Neg(x) }", {}), "single floating-point number"));
  CHECK(contains(error_of("g (float x, int64 i) => (float loss) { loss = Neg(x) }", {"i"}), "'i' is int64[]"));
}

TEST_CASE("a mean that the loss reads through a saved output is refused") {
  const std::string message = error_of(R"(
    g (float[2,3] x, float[3] s) => (float loss) {
      y, mean, deviation = LayerNormalization(x, s)
      loss = ReduceSum<keepdims = 0>(mean)
    })",
                                       {"x"});
  CHECK(contains(message, "'Mean'"));
}

}  // namespace
}  // namespace ort_train::tests
