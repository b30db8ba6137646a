#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace ort_train::tests {

struct Range {
  double low = -1, high = 1;
};

/// A small graph in float64 whose gradients are compared with central differences.
struct GradientCheck {
  std::string name;
  std::string inputs;             ///< in ONNX text: "double[2,3] x, int64[2] labels"
  std::string body;               ///< nodes in ONNX text
  std::string initializers = "";  ///< likewise; they become constants
  std::vector<std::string> outputs = {"y"};
  /// From where elements are drawn, no two of them close to each other; "" stands for all inputs not named.
  std::map<std::string, Range> ranges = {};
  /// No element is drawn close to one of these.
  std::vector<double> kinks = {0};
  /// Inputs with given elements. No gradient is computed for them.
  std::map<std::string, Tensor> feeds = {};
};

/// The graph of a check, types inferred, with its results as outputs.
std::unique_ptr<graph::Graph> build(const GradientCheck& check);

/// Elements for every input, the same every time.
std::map<std::string, Tensor> draw_inputs(const GradientCheck& check, const graph::Graph& graph);

/// Gradients of sum(weights * outputs) for every floating-point input that the check does not feed, as autodiff and the
/// plain kernels give them. `weights` holds one array an output; outputs without one (counts, say) do not contribute.
std::map<std::string, Tensor> analytic_gradients(const GradientCheck& check,
                                                 const std::map<std::string, Tensor>& inputs,
                                                 const std::map<std::string, Tensor>& weights);

/// Compares analytic gradients with central differences of fourth order; reports to doctest.
void run(const GradientCheck& check);

/// (domain, operator) of every node of the check.
std::set<std::pair<std::string, std::string>> operators_of(const GradientCheck& check);

}  // namespace ort_train::tests
