#include "tests/known_gradient.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ort_train::tests {

namespace {

void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element ", i, ": ", found[i], " instead of ", expected[i]);
    // Written so that a NaN fails. The attributes used are exact in float32.
    const bool close = std::abs(found[i] - expected[i]) <= 1e-9 * std::max(1.0, std::abs(expected[i]));
    CHECK(close);
  }
}

std::map<std::string, Tensor> tensors(const graph::Graph& graph, const Arrays& arrays) {
  std::map<std::string, Tensor> result;
  for (const auto& [name, elements] : arrays) result[name] = Tensor::of<double>(graph.at(name)->dims(), elements);
  return result;
}

}  // namespace

GradientCheck KnownGradient::graph() const {
  GradientCheck result{.name = body, .inputs = inputs, .body = body, .initializers = initializers, .outputs = {}};
  for (const auto& [output, elements] : output_gradients) result.outputs.push_back(output);
  return result;
}

KnownGradient KnownDerivative::gradient() const {
  return {"double[" + std::to_string(x.size()) + "] x",
          "y = " + op_type + attributes + "(x)",
          {{"x", x}},
          {{"y", std::vector<double>(x.size(), 1)}},
          {{"x", derivative}}};
}

void check(const KnownGradient& known) {
  INFO(known.body);
  const GradientCheck gradient_check = known.graph();
  const auto graph = build(gradient_check);
  const auto gradients =
      analytic_gradients(gradient_check, tensors(*graph, known.elements), tensors(*graph, known.output_gradients));
  for (const auto& expected : known.expected) {
    INFO("input '", expected.first, "'");
    check_close(gradients.at(expected.first).to_doubles(), expected.second);
  }
}

}  // namespace ort_train::tests
