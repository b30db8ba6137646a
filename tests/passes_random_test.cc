#include <doctest/doctest.h>

#include <cmath>

#include "graph/onnx_io.h"
#include "kernels/kernel.h"
#include "passes/training_form.h"
#include "passes/training_graph.h"
#include "tests/kernel_values.h"

using namespace ort_train;
using namespace ort_train::tests;
using passes::Form;

namespace {

std::unique_ptr<graph::Graph> parse(const std::string& text) {
  return graph::parse_text("<ir_version: 10, opset_import: [\"\" : 28]> " + text);
}

passes::TrainingSpec spec() {
  passes::TrainingSpec spec;
  spec.losses = {passes::LossSpec{"mse"}};
  spec.seed = 9;
  return spec;
}

std::map<std::string, Tensor> run_evaluation(const graph::Graph& model) {
  const auto graph = passes::build_evaluation_graph(model, spec(), {{"x", {6, 3}}});
  return kernels::interpret(*graph,
                            {{"x", grid({6, 3}, 1, DataType::float32)}, {"label", grid({6, 3}, 2, DataType::float32)}});
}

}  // namespace

TEST_CASE("training-form gives random operators streams of their own") {
  passes::TrainingForm pass(Form::training, 9);
  const auto graph = parse(
      "g (float[6,3] x) => (float[6,3] y, double[2,2] z) "
      "{ y = RandomNormalLike<mean = 2.0>(x)  z = RandomUniform<dtype = 11, shape = [2, 2], seed = 1.0>() }");
  CHECK(pass.run(*graph));
  const graph::Node& normal = *graph->at("y")->producer();
  CHECK(normal.op_type() == "RandomValues");
  CHECK(normal.string("distribution", "") == "normal");
  CHECK(normal.real("mean", 0) == 2);
  CHECK(normal.integer("seed", 0) == 9);
  CHECK(normal.integer("stream", -1) == 0);
  CHECK(normal.input(0)->name() == "x");
  CHECK(normal.input(1)->name() == passes::step_input);
  CHECK(normal.input(2)->name() == passes::first_sample_input);
  const graph::Node& uniform = *graph->at("z")->producer();
  CHECK(uniform.integer("stream", -1) == 1);
  CHECK(uniform.integer("seed", 0) != 9);
  CHECK(uniform.input(0) == nullptr);
  CHECK(graph->at("z")->type() == graph::Type(DataType::float64, Dims{2, 2}));
}

TEST_CASE("a model with random operators trains, and draws anew in every step") {
  const auto model = parse(
      "g (float[6,3] x) => (float[6,3] y) <float[3] w = {1,2,3}> { p = Sigmoid(x)  n = RandomNormalLike(x)  "
      "a = Add(x, n)  b = Bernoulli(p)  c = Mul(a, b)  y = Mul(c, w) }");
  const auto graph = passes::build_training_graph(*model, spec(), {{"x", {6, 3}}});
  const auto step = [&](std::int64_t number) {
    return kernels::interpret(*graph, {{"x", grid({6, 3}, 1, DataType::float32)},
                                       {"label", grid({6, 3}, 2, DataType::float32)},
                                       {"ort_train.learning_rate", Tensor::scalar(0.5F)},
                                       {passes::step_input, Tensor::scalar(number)},
                                       {passes::first_sample_input, Tensor::scalar<std::int64_t>(0)}});
  };
  const Tensor first = step(1).at("w");
  CHECK(step(1).at("w").identical(first));
  CHECK_FALSE(step(2).at("w").identical(first));
  CHECK_FALSE(graph->at("w")->initial().identical(first));
}

TEST_CASE("evaluation draws the same numbers every time") {
  const auto model = parse("g (float[6,3] x) => (float[6,3] y) { n = RandomUniformLike(x)  y = Add(x, n) }");
  const Tensor y = run_evaluation(*model).at("y");
  CHECK(run_evaluation(*model).at("y").identical(y));
  CHECK_FALSE(y.identical(grid({6, 3}, 1, DataType::float32)));
}

TEST_CASE("replicas draw what one device draws for the same samples") {
  const auto model = parse(
      "g (float[5,3] x) => (float[5,3] y) <float[3] w = {1,2,3}> { p = Sigmoid(x)  n = RandomNormalLike(x)  "
      "a = Add(x, n)  b = Bernoulli(p)  c = Mul(a, b)  y = Mul(c, w) }");
  const std::vector<double> x = grid({5, 3}, 1).to_doubles();
  passes::TrainingSpec kept = spec();
  kept.keep_outputs = true;
  const auto predictions = [&](const passes::Replication& replication, std::int64_t first, std::int64_t rows) {
    const Tensor part =
        tensor_of({x.begin() + 3 * first, x.begin() + 3 * (first + rows)}, {rows, 3}, DataType::float32);
    std::map<std::string, Tensor> feeds = {{"x", part}, {"label", part}};
    const auto evaluation = passes::build_evaluation_graph(*model, kept, {{"x", {5, 3}}}, replication);
    std::vector<double> y = kernels::interpret(*evaluation, feeds).at("y").to_doubles();
    feeds["ort_train.learning_rate"] = Tensor::scalar(0.5F);
    feeds[passes::step_input] = Tensor::scalar<std::int64_t>(4);
    feeds[passes::first_sample_input] = Tensor::scalar(first);
    const auto training = passes::build_training_graph(*model, kept, {{"x", {5, 3}}}, replication);
    const std::vector<double> trained = kernels::interpret(*training, feeds).at("y").to_doubles();
    CHECK(trained != y);
    y.insert(y.end(), trained.begin(), trained.end());
    return y;
  };
  const std::vector<double> whole = predictions({}, 0, 5);
  const std::vector<double> head = predictions({.replicas = 2, .rank = 0}, 0, 3);
  const std::vector<double> tail = predictions({.replicas = 2, .rank = 1}, 3, 2);
  REQUIRE(whole.size() == head.size() + tail.size());
  for (std::size_t i = 0; i < 15; ++i) {
    CHECK(whole[i] == (i < 9 ? head[i] : tail[i - 9]));
    CHECK(whole[15 + i] == (i < 9 ? head[9 + i] : tail[i - 3]));
  }
}

TEST_CASE("Bernoulli and Multinomial draw by their probabilities") {
  const auto drawn = [](const std::string& node, const Dims& dims, const std::vector<double>& row) {
    const auto graph = parse("g (float" + to_string(dims) + " x) => (float[1] y) { y = " + node + "(x) }");
    graph->outputs().front()->set_type({});
    passes::InferenceForm(1).run(*graph);
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(dims); ++i)
      values.push_back(row[static_cast<std::size_t>(i) % row.size()]);
    return kernels::interpret(*graph, {{"x", tensor_of(values, dims, DataType::float32)}}).at("y");
  };
  const Tensor coins = drawn("Bernoulli<dtype = 7>", {10000, 3}, {0, 0.25, 1});
  CHECK(coins.dtype() == DataType::int64);
  std::vector<double> heads(3);
  for (std::int64_t i = 0; i < coins.size(); ++i)
    heads[static_cast<std::size_t>(i % 3)] += static_cast<double>(coins.data<std::int64_t>()[i]);
  CHECK(heads[0] == 0);
  CHECK(std::abs(heads[1] - 2500) < 250);  // more than five standard deviations
  CHECK(heads[2] == 10000);

  // Log-probabilities of 1/8, 5/8 and 2/8, not normalized.
  const Tensor classes = drawn("Multinomial<sample_size = 4>", {5000, 3}, {0, std::log(5.0), std::log(2.0)});
  CHECK(classes.dtype() == DataType::int32);
  CHECK(classes.dims() == Dims{5000, 4});
  std::vector<double> counts(3);
  for (const double drawn_class : classes.to_doubles()) counts.at(static_cast<std::size_t>(drawn_class)) += 1;
  CHECK(std::abs(counts[0] - 2500) < 250);
  CHECK(std::abs(counts[1] - 12500) < 400);
  CHECK(std::abs(counts[2] - 5000) < 350);
}
