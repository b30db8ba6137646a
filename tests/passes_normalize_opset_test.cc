#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "graph/verifier.h"
#include "passes/normalize_opset.h"
#include "tests/pass_check.h"

using namespace ort_train;
using tests::body_of;

namespace {

std::string normalized(int opset, const std::string& body) {
  const auto graph = graph::parse_text("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]>" + body);
  passes::NormalizeOpset().run(*graph);
  graph::verify(*graph, "test");
  CHECK(graph->opset() == passes::NormalizeOpset::newest);
  return body_of(*graph);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("axes of reductions become an input") {
  const std::string text =
      normalized(11, "g (float[2,3] x) => (float[2] y) { y = ReduceMean<axes = [1], keepdims = 0>(x) }");
  CHECK(contains(text, "int64[1] \"y.axes\" =  {1}"));
  CHECK(contains(text, "y = ReduceMean <keepdims: int = 0> (x, \"y.axes\")"));
}

TEST_CASE("ReduceSum had its axes as an input from opset 13 on") {
  const std::string body = "g (float[2,3] x) => (float[2] y) <int64[1] a = {1}> { y = ReduceSum<keepdims = 0>(x, a) }";
  CHECK(contains(normalized(13, body), "y = ReduceSum <keepdims: int = 0> (x, a)"));
}

TEST_CASE("axes of Squeeze and Unsqueeze, bounds of Slice and Clip, amounts of Pad become inputs") {
  CHECK(contains(normalized(11, "g (float[2,1] x) => (float[2] y) { y = Squeeze<axes = [1]>(x) }"),
                 "Squeeze (x, \"y.axes\")"));
  CHECK(contains(normalized(11, "g (float[2] x) => (float[1,2] y) { y = Unsqueeze<axes = [0]>(x) }"),
                 "Unsqueeze (x, \"y.axes\")"));
  CHECK(contains(normalized(9, "g (float[4] x) => (float[2] y) { y = Slice<starts = [1], ends = [3]>(x) }"),
                 "Slice (x, \"y.starts\", \"y.ends\")"));
  CHECK(contains(normalized(9, "g (float[4] x) => (float[4] y) { y = Clip<min = 0.0, max = 6.0>(x) }"),
                 "Clip (x, \"y.min\", \"y.max\")"));
  CHECK(contains(normalized(9, "g (float[4] x) => (float[6] y) { y = Pad<pads = [1,1], value = 2.0>(x) }"),
                 "Pad (x, \"y.pads\", \"y.value\")"));
}

TEST_CASE("Split says how many outputs it has") {
  const std::string text = normalized(11, "g (float[4] x) => (float[2] a, float[2] b) { a, b = Split<axis = 0>(x) }");
  CHECK(contains(text, "Split <axis: int = 0, num_outputs: int = 2> (x)"));
}

TEST_CASE("Softmax of opset 11 counts its input as a matrix") {
  const std::string text = normalized(11, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax<axis = 1>(x) }");
  CHECK(contains(text, "Flatten <axis: int = 1> (x)"));
  CHECK(contains(text, "Softmax <axis: int = -1>"));
  CHECK(contains(text, "y = Reshape"));
}

TEST_CASE("Softmax over the last axis needs no matrix") {
  const std::string text = normalized(11, "g (float[2,3] x) => (float[2,3] y) { y = Softmax<axis = 1>(x) }");
  CHECK(contains(text, "y = Softmax <axis: int = -1> (x)"));
  CHECK_FALSE(contains(text, "Flatten"));
}

TEST_CASE("Softmax of opset 13 keeps its axis") {
  const std::string text = normalized(13, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax<axis = 1>(x) }");
  CHECK(contains(text, "y = Softmax <axis: int = 1> (x)"));
}

TEST_CASE("BatchNormalization of opset 9 in training form") {
  const std::string text =
      normalized(9, R"(g (float[2,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y) {
    y, m2, v2, m3, v3 = BatchNormalization(x, s, b, m, v) })");
  CHECK(contains(text, "y, m2, v2 = BatchNormalization <training_mode: int = 1> (x, s, b, m, v)"));
}

TEST_CASE("Upsample becomes Resize") {
  const std::string text = normalized(9,
                                      "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> "
                                      "{ y = Upsample<mode = \"nearest\">(x, s) }");
  CHECK(contains(text, "coordinate_transformation_mode: string = \"asymmetric\""));
  CHECK(contains(text, "nearest_mode: string = \"floor\""));
  CHECK(contains(text, "(x, \"\", s)"));
}

TEST_CASE("an opset that is too old is refused") {
  CHECK_THROWS_WITH_AS(normalized(8, "g (float[4] x) => (float[4] y) { y = Relu(x) }"), doctest::Contains("opset 8"),
                       Error);
}
