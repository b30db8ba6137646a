// Gradient rules against numbers that were worked out beside them: closed forms in NumPy and, at kinks, ties and zeros
// (where differences say nothing), what PyTorch gives.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/builder.h"
#include "passes/autodiff.h"
#include "passes/gradients/gradient_rule.h"
#include "tests/known_gradient.h"
#include "tests/known_gradients/functions.h"
#include "tests/known_gradients/layers.h"
#include "tests/known_gradients/moves.h"
#include "tests/known_gradients/reductions.h"

namespace ort_train::tests {
namespace {

std::vector<KnownGradient> all_known() {
  std::vector<KnownGradient> all;
  all.reserve(known_derivatives.size());
  for (const KnownDerivative& known : known_derivatives) all.push_back(known.gradient());
  for (const auto& known : {known_functions, known_reductions, known_products, known_windows, known_normalizations,
                            known_losses, known_moves, known_picks}) {
    all.insert(all.end(), known.begin(), known.end());
  }
  return all;
}

TEST_CASE("rules give known numbers") {
  for (const KnownGradient& known : all_known()) {
    try {
      check(known);
    } catch (const Error& error) {
      FAIL_CHECK(text(known.body, ": ", error.what()));
    }
  }
}

TEST_CASE("numbers are known for every rule") {
  // The mask is random: its test stands below.
  std::set<std::pair<std::string, std::string>> covered = {{std::string(graph::training_domain), "TrainingDropout"}};
  for (const KnownGradient& known : all_known()) covered.merge(operators_of(known.graph()));
  for (const auto& rule : passes::registered_gradient_rules()) {
    INFO(rule.first, " ", rule.second);
    CHECK(covered.count(rule) == 1);
  }
}

TEST_CASE("TrainingDropout passes the gradient where it passed the element, with the same factor") {
  const GradientCheck dropout{.name = "dropout",
                              .inputs = "double[8,8] x",
                              .body = "y, mask = ai.ort_train.TrainingDropout<ratio = 0.25, seed = 1>(x, step, sample)",
                              .initializers = "int64 step = {1}, int64 sample = {0}"};
  Tensor ones(DataType::float64, {8, 8});
  std::fill_n(ones.data<double>(), 64, 1.0);
  const auto gradient = analytic_gradients(dropout, {{"x", ones}}, {{"y", ones}}).at("x").to_doubles();
  const auto dropped = std::count(gradient.begin(), gradient.end(), 0.0);
  CHECK(dropped > 4);
  CHECK(dropped < 32);
  for (const double element : gradient) CHECK((element == 0 || std::abs(element - 4.0 / 3) < 1e-12));
}

TEST_CASE("LayerNormalization in float32 reads the statistics that the node saves") {
  const GradientCheck layer{.name = "layer",
                            .inputs = "float[2,3] x, float[3] scale, float[3] b",
                            .body = "y = LayerNormalization<epsilon = 0.5>(x, scale, b)"};
  const std::map<std::string, Tensor> inputs = {{"x", Tensor::of<float>({2, 3}, {0, 1, 5, 2, 2, -1})},
                                                {"scale", Tensor::of<float>({3}, {1, 2, 3})},
                                                {"b", Tensor(DataType::float32, {3})}};
  const auto gradients = analytic_gradients(layer, inputs, {{"y", Tensor::of<double>({2, 3}, {1, 2, -1, 0, 1, 3})}});
  const std::vector<double> expected = {-0.7048522625, 1.0407214614, -0.3358691989,
                                        -0.9697651491, 0.2951459149, 0.6746192342};
  const std::vector<double> found = gradients.at("x").to_doubles();
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));

  const auto graph = build(layer);
  graph::Value* loss = graph::Builder(*graph).emit("ReduceSum", {graph->at("y")}, {{"keepdims", std::int64_t{0}}});
  passes::add_gradients(*graph, loss, {graph->at("x")});
  CHECK(graph->nodes().front()->outputs().size() == 3);
}

}  // namespace
}  // namespace ort_train::tests
