#include "tests/kernel_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx_io.h"
#include "graph/shape_inference.h"
#include "kernels/kernel.h"

namespace ort_train::tests {

namespace {

// ONNX text has names of its own for element types, and cannot say that an array is a scalar.
std::string onnx_type(const Tensor& tensor) {
  std::string element = name_of(tensor.dtype());
  if (tensor.dtype() == DataType::float32) element = "float";
  if (tensor.dtype() == DataType::float64) element = "double";
  return element + (tensor.rank() == 0 ? "[1]" : to_string(tensor.dims()));
}

std::unique_ptr<graph::Graph> parse_nodes(const std::string& nodes, const Arrays& inputs,
                                          const std::vector<std::string>& outputs) {
  std::string arguments, results;
  for (const auto& [name, tensor] : inputs) {
    arguments += (arguments.empty() ? "" : ", ") + onnx_type(tensor) + " " + name;
  }
  for (const std::string& name : outputs) results += (results.empty() ? "double[1] " : ", double[1] ") + name;
  auto graph = graph::parse_text("<ir_version: 10, opset_import: [\"\" : 28, \"ai.ort_train\" : 1]> test (" +
                                 arguments + ") => (" + results + ") { " + nodes + " }");
  for (const auto& [name, tensor] : inputs) {
    graph->at(name)->set_type(graph::Type(tensor.dtype(), tensor.dims()));
    if (is_integer(tensor.dtype())) {
      graph->convert_input_to_initializer(graph->at(name), graph::Role::constant, tensor);
    }
  }
  // The text has to claim some shape; what counts is what is inferred.
  for (graph::Value* output : graph->outputs()) output->set_type({});
  graph::infer_types(*graph);
  return graph;
}

double weighted_sum(const Tensor& y) {
  const std::vector<double> values = y.to_doubles(), weights = sample(y.dims(), 77).to_doubles();
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  return sum;
}

}  // namespace

Tensor sample(const Dims& dims, int seed, DataType dtype) {
  Tensor tensor(DataType::float64, dims);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.data<double>()[i] = static_cast<double>((7919 * i + 104729 * seed) % 101 - 50) / 25;
  }
  return tensor.cast(dtype);
}

Arrays run_nodes(const std::string& nodes, const Arrays& inputs, const std::vector<std::string>& outputs) {
  return kernels::interpret(*parse_nodes(nodes, inputs, outputs), inputs);
}

Tensor run_node(const std::string& node, const Arrays& inputs) { return run_nodes(node, inputs).at("y"); }

void check_array(const Tensor& actual, const Dims& dims, const std::vector<double>& expected, double tolerance) {
  REQUIRE(to_string(actual.dims()) == to_string(dims));
  const std::vector<double> values = actual.to_doubles();
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  for (const double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element ", i, " is ", values[i], ", expected ", expected[i]);
    // Written so that a NaN fails.
    const bool close = values[i] == expected[i] || std::fabs(values[i] - expected[i]) <= tolerance * largest;
    CHECK(close);
    if (!close) return;
  }
}

void check_gradients(const DifferentiatedNode& node) {
  INFO(node.gradient);
  Arrays inputs = node.inputs;
  std::vector<std::string> results;
  for (const auto& [gradient, input] : node.gradients) results.push_back(gradient);
  const Tensor y = run_node(node.forward, inputs);
  Arrays all = inputs;
  all["dy"] = sample(y.dims(), 77);
  const Arrays gradients = run_nodes(node.forward + "\n" + node.gradient, all, results);
  for (const auto& [gradient, input] : node.gradients) {
    const Tensor original = inputs.at(input);
    REQUIRE(to_string(gradients.at(gradient).dims()) == to_string(original.dims()));
    std::vector<double> differences;
    constexpr double step = 1e-5;
    for (std::int64_t i = 0; i < original.size(); ++i) {
      double values[2];
      for (const int side : {0, 1}) {
        Tensor moved = original.clone();
        moved.data<double>()[i] += side == 0 ? step : -step;
        inputs[input] = moved;
        values[side] = weighted_sum(run_node(node.forward, inputs));
      }
      differences.push_back((values[0] - values[1]) / (2 * step));
    }
    inputs[input] = original;
    check_array(gradients.at(gradient), original.dims(), differences, 1e-7);
  }
}

}  // namespace ort_train::tests
