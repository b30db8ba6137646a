#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "passes/bind_shapes.h"
#include "passes/canonicalize_windows.h"
#include "passes/eliminate_dead_code.h"
#include "passes/eliminate_duplicates.h"
#include "passes/fold_constants.h"
#include "passes/free_batch_size.h"
#include "passes/lower_transposed_convolution.h"
#include "tests/pass_check.h"

using namespace ort_train;
using tests::check_pass;
using tests::check_unchanged;

TEST_CASE("fold-constants computes shape arithmetic") {
  passes::FoldConstants pass;
  check_pass(pass,
             R"(g (float[2,3,4] x) => (float[2,12] y) <int64 zero = {0}, int64[1] rest = {-1}, int64[1] axis = {0}> {
               shape = Shape(x)
               n = Gather(shape, zero)
               n1 = Unsqueeze(n, axis)
               wanted = Concat<axis = 0>(n1, rest)
               y = Reshape(x, wanted) })",
             R"(g (float[2,3,4] x) => (float[2,12] y)
               <int64 zero = {0}, int64[1] rest = {-1}, int64[1] axis = {0}, int64[3] shape = {2,3,4}, int64 n = {2},
                int64[1] n1 = {2}, int64[2] wanted = {2,-1}> {
               y = Reshape(x, wanted) })");
}

TEST_CASE("fold-constants leaves parameters alone") {
  passes::FoldConstants pass;
  check_unchanged(pass, "g (float[2] x) => (float[2] y) <float[2] w = {1,2}> { v = Neg(w)  y = Mul(x, v) }");
}

TEST_CASE("bind-shapes gives the inputs numbers and forgets what the file claimed of the rest") {
  const auto graph =
      graph::parse_text(tests::with_header("g (float[N,3] x) => (float[N,3] y) { a = Neg(x)  y = Relu(a) }"));
  CHECK(passes::BindShapes({{"x", {4, 3}}}).run(*graph));
  CHECK(to_string(graph->at("x")->type()) == "float32[4,3]");
  CHECK(to_string(graph->at("a")->type()) == "float32[...]");
}

TEST_CASE("bind-shapes refuses extents that contradict the file") {
  const auto graph =
      graph::parse_text(tests::with_header("g (float[N,3] x, float[N,1] z) => (float[N,3] y) { y = Add(x, z) }"));
  passes::BindShapes wrong_extent({{"x", {4, 5}}, {"z", {4, 1}}});
  CHECK_THROWS_WITH_AS(wrong_extent.run(*graph), doctest::Contains("'x' is float32[N,3]"), Error);
  passes::BindShapes wrong_rank({{"x", {4, 3, 1}}, {"z", {4, 1}}});
  CHECK_THROWS_WITH_AS(wrong_rank.run(*graph), doctest::Contains("[4,3,1]"), Error);
  passes::BindShapes two_batches({{"x", {4, 3}}, {"z", {5, 1}}});
  CHECK_THROWS_WITH_AS(two_batches.run(*graph), doctest::Contains("'z'"), Error);
  passes::BindShapes missing({{"x", {4, 3}}});
  CHECK_THROWS_WITH_AS(missing.run(*graph), doctest::Contains("no extents"), Error);
}

TEST_CASE("eliminate-dead-code removes what no output needs") {
  passes::EliminateDeadCode pass;
  check_pass(pass, "g (float[4] x) => (float[4] y) <int64[1] k = {1}> { a = Neg(x)  b = Exp(a)  y = Relu(x) }",
             "g (float[4] x) => (float[4] y) { y = Relu(x) }");
  check_unchanged(pass, "g (float[4] x) => (float[4] y) <float[4] unused = {1,2,3,4}> { y = Relu(x) }");
}

TEST_CASE("eliminate-dead-code keeps every output of Split") {
  passes::EliminateDeadCode pass;
  check_unchanged(pass, "g (float[4] x) => (float[2] b) { a, b = Split<axis = 0, num_outputs = 2>(x) }");
}

TEST_CASE("eliminate-duplicates merges equal work, chains included") {
  passes::EliminateDuplicates pass;
  check_pass(pass, "g (float[4] x) => (float[4] y) { a = Exp(x)  b = Exp(x)  c = Neg(a)  d = Neg(b)  y = Add(c, d) }",
             "g (float[4] x) => (float[4] y) { a = Exp(x)  c = Neg(a)  y = Add(c, c) }");
}

TEST_CASE("eliminate-duplicates tells attributes apart and never merges parameters") {
  passes::EliminateDuplicates pass;
  check_unchanged(pass, R"(g (float[4] x) => (float[4] y) {
    a = LeakyRelu<alpha = 0.1>(x)  b = LeakyRelu<alpha = 0.2>(x)  y = Add(a, b) })");
  check_unchanged(
      pass, "g (float[2] x) => (float[2] y) <float[2] v = {1,1}, float[2] w = {1,1}> { a = Mul(x, v)  y = Mul(a, w) }");
}

TEST_CASE("canonicalize-windows writes out what a convolution leaves implicit") {
  passes::CanonicalizeWindows pass;
  check_pass(pass,
             "g (float[1,2,5,5] x, float[3,2,3,3] w) => (float[1,3,3,3] y) { y = Conv<auto_pad = \"SAME_UPPER\", "
             "strides = [2,2]>(x, w) }",
             R"(g (float[1,2,5,5] x, float[3,2,3,3] w) => (float[1,3,3,3] y) {
               y = Conv<dilations = [1,1], kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]>(x, w) })");
  check_pass(
      pass,
      "g (float[1,2,4,4] x) => (float[1,2,4,4] y) { y = MaxPool<auto_pad = \"SAME_LOWER\", kernel_shape = [2,2]>(x) }",
      R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y) {
               y = MaxPool<dilations = [1,1], kernel_shape = [2,2], pads = [1,1,0,0], strides = [1,1]>(x) })");
}

TEST_CASE("lower-transposed-convolution") {
  passes::LowerTransposedConvolution pass;
  check_pass(pass, R"(g (float[1,2,3,3] x, float[2,4,2,2] w, float[4] b) => (float[1,4,6,6] y) {
      y = ConvTranspose<dilations = [1,1], kernel_shape = [2,2], pads = [0,0,0,0], strides = [2,2]>(x, w, b) })",
             R"(g (float[1,2,3,3] x, float[2,4,2,2] w, float[4] b) => (float[1,4,6,6] y)
               <int64[4] "y.constant" = {1,4,1,1}> {
      ["y.ConvGradInput"] "y.ConvGradInput" = ai.ort_train.ConvGradInput<dilations = [1,1], group = 1, input_shape = [1,4,6,6],
          kernel_shape = [2,2], pads = [0,0,0,0], strides = [2,2]>(x, w)
      ["y.Reshape"] "y.Reshape" = Reshape<allowzero = 1>(b, "y.constant")
      ["y.Add"] y = Add("y.ConvGradInput", "y.Reshape") })");
}

TEST_CASE("free-batch-size turns a baked batch into a symbol") {
  passes::FreeBatchSize pass;
  check_pass(pass, "g (float[4,6] x) => (float[4,2,3] y) <int64[3] s = {4,2,3}> { y = Reshape(x, s) }",
             R"(g (float[N,6] x) => (float[N,2,3] y) <int64[3] s = {4,2,3}, int64[3] "y.shape" = {0,2,3}> {
               y = Reshape(x, "y.shape") })");
  check_pass(pass, "g (float[4,6] x) => (float[8,3] y) <int64[2] s = {8,3}> { y = Reshape(x, s) }",
             R"(g (float[N,6] x) => (float[8,3] y) <int64[2] s = {8,3}, int64[2] "y.shape" = {-1,3}> {
               y = Reshape(x, "y.shape") })");
  check_unchanged(pass, "g (float[N,6] x) => (float[N,2,3] y) <int64[3] s = {0,2,3}> { y = Reshape(x, s) }");
}
