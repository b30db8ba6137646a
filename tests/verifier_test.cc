#include "graph/verifier.h"

#include "graph/onnx_io.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::graph;
using namespace ort_train::test;

namespace {

/// y = Gemm(Relu(x), w), with the state w and, beside it, the constant c.
std::unique_ptr<Graph> example() {
  return parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[4,3] x) => (float[4,2] y) <float[3,2] w = {1,2,3,4,5,6}, int64[1] c = {1}> {
      a = Relu (x)
      y = Gemm (a, w)
      d = Neg (w)
    })");
}

#define CHECK_REJECTED(graph, reason)                                                \
  do {                                                                               \
    CHECK_ERROR(verify(graph, "some-pass"), "some-pass: the graph 'g' is broken: "); \
    CHECK_ERROR(verify(graph, "some-pass"), reason);                                 \
  } while (false)

}  // namespace

TEST_CASE("a sound graph passes") {
  const auto graph = example();
  verify(*graph, "some-pass");
  graph->add_update(graph->at("w"), graph->at("d"));
  verify(*graph, "some-pass");
  verify(*graph->clone(), "some-pass");
  verify(Graph(), "some-pass");
}

TEST_CASE("a node before the producer of its input is rejected") {
  const auto graph = example();
  graph->move_before(graph->at("y")->producer(), graph->at("a")->producer());
  CHECK_REJECTED(*graph, "Gemm 'y' reads 'a' before it is computed");
}

TEST_CASE("an input from another graph is rejected") {
  const auto graph = example(), other = example();
  graph->at("y")->producer()->set_input(0, other->at("a"));
  CHECK_REJECTED(*graph, "Gemm 'y' reads 'a' before it is computed");
}

TEST_CASE("an output from another graph is rejected") {
  const auto graph = example(), other = example();
  graph->set_outputs({other->at("a")});
  CHECK_REJECTED(*graph, "'a' is an output but nothing computes it");
}

TEST_CASE("state without elements is rejected") {
  const auto graph = example();
  graph->add_initializer("empty", Role::constant, Tensor());
  CHECK_REJECTED(*graph, "'empty' has no stored elements");
}

TEST_CASE("too few inputs are rejected") {
  const auto graph = example();
  graph->at("y")->producer()->resize_inputs(1);
  CHECK_REJECTED(*graph, "Gemm 'y': ");
}

TEST_CASE("too many inputs are rejected") {
  const auto graph = example();
  graph->at("a")->producer()->set_input(1, graph->at("w"));
  CHECK_REJECTED(*graph, "Relu 'a': ");
}

TEST_CASE("a missing input that the operator needs is rejected") {
  const auto graph = example();
  graph->at("y")->producer()->set_input(0, nullptr);
  CHECK_REJECTED(*graph, "Gemm 'y': ");
}

TEST_CASE("an attribute that the operator does not have is rejected") {
  const auto graph = example();
  graph->at("a")->producer()->set("slope", 0.5F);
  CHECK_REJECTED(*graph, "Unrecognized attribute: slope");
}

TEST_CASE("an attribute of the wrong type is rejected") {
  const auto graph = example();
  graph->at("y")->producer()->set("transB", 0.5F);
  CHECK_REJECTED(*graph, "Gemm 'y': ");
}

TEST_CASE("a missing attribute that the operator needs is rejected") {
  const auto graph = example();
  graph->at("a")->producer()->rename_operator("Concat", "");
  CHECK_REJECTED(*graph, "Required attribute 'axis' is missing");
}

TEST_CASE("extents other than the inferred ones are rejected") {
  const auto graph = example();
  graph->at("a")->set_type(Type(DataType::float32, Dims{4, 5}));
  CHECK_REJECTED(*graph, "Relu 'a' computes float32[4,3], but 'a' is float32[4,5]");
}

TEST_CASE("an element type other than the inferred one is rejected") {
  const auto graph = example();
  graph->at("a")->set_type(Type(DataType::float64, Dims{4, 3}));
  CHECK_REJECTED(*graph, "Relu 'a' computes float32[4,3], but 'a' is float64[4,3]");
}

TEST_CASE("a rank other than the inferred one is rejected") {
  const auto graph = example();
  graph->at("a")->set_type(Type(DataType::float32, Dims{4, 3, 1}));
  CHECK_REJECTED(*graph, "Relu 'a' computes float32[4,3]");
}

TEST_CASE("types that say less than inference, or name an extent, are no contradiction") {
  const auto graph = example();
  graph->at("a")->set_type(Type(DataType::float32, Shape{std::string("N"), Dimension()}));
  graph->at("y")->set_type(Type(DataType::float32));
  verify(*graph, "some-pass");
  graph->at("y")->set_type(Type());
  verify(*graph, "some-pass");
}

TEST_CASE("inputs that do not fit each other are rejected") {
  const auto graph = example();
  graph->at("y")->producer()->set_input(1, graph->at("x"));
  CHECK_REJECTED(*graph, "Gemm 'y': its inputs do not fit (float32[4,3], float32[4,3])");
}

TEST_CASE("element types that the operator does not take are rejected") {
  const auto graph = example();
  graph->at("y")->producer()->set_input(2, graph->at("c"));
  CHECK_REJECTED(*graph, "Gemm 'y': its inputs do not fit (float32[4,3], float32[3,2], int64[1])");
}

TEST_CASE("an update of what is no state any more is rejected") {
  const auto graph = example();
  graph->add_update(graph->at("w"), graph->at("d"));
  graph->at("w")->set_role(Role::constant);
  CHECK_REJECTED(*graph, "'w' is updated but is no state");
}

TEST_CASE("an update of another type is rejected") {
  const auto graph = parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.example" : 1]>
    g (float[2] x) => (float[2] y) <float[2] w = {1,2}> { y = Add (x, w) n = ai.example.Thing (x) })");
  graph->at("n")->set_type(graph->at("w")->type());
  graph->add_update(graph->at("w"), graph->at("n"));
  verify(*graph, "some-pass");
  graph->at("n")->set_type(Type(DataType::float32, Dims{3}));
  CHECK_REJECTED(*graph, "'w' is float32[2] but is updated with float32[3]");
}

TEST_CASE("an update that nothing computes is rejected") {
  const auto graph = example(), other = example();
  graph->add_update(graph->at("w"), other->at("d"));
  CHECK_REJECTED(*graph, "'d' updates state but nothing computes it");
}

TEST_CASE("operators that nobody knows are left to the preflight") {
  const auto graph = parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.example" : 1]>
    g (float[2] x) => (float[2] y) { a = ai.example.Thing <size = 3> (x) y = Relu (a) })");
  verify(*graph, "some-pass");
  CHECK(graph->at("a")->dtype() == DataType::undefined);
  CHECK(to_string(graph->at("y")->type()) == "float32[2]");
}
