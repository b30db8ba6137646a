#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

// Plain kernels, called on nodes in ONNX text.
namespace ort_train::tests {

using Arrays = std::map<std::string, Tensor>;

/// Values in [-2, 2] that look random and are easy to make elsewhere: ((7919 i + 104729 seed) mod 101 - 50) / 25.
Tensor sample(const Dims& dims, int seed = 0, DataType dtype = DataType::float64);

/// Runs nodes in ONNX text on arrays by name. Integer inputs are constants of the graph, so that shape inference and
/// the kernel must agree on the outputs.
Arrays run_nodes(const std::string& nodes, const Arrays& inputs, const std::vector<std::string>& outputs = {"y"});

/// The only output, named "y".
Tensor run_node(const std::string& node, const Arrays& inputs);

/// Extents and elements, within `tolerance` of the largest expected one.
void check_array(const Tensor& actual, const Dims& dims, const std::vector<double>& expected, double tolerance = 1e-6);

/// An operator and the operator that computes its gradient, in float64.
struct DifferentiatedNode {
  std::string forward;  ///< computes "y"
  std::string
      gradient;  ///< computes one array for every entry of `gradients` from "dy" and what `forward` reads and makes
  Arrays inputs;
  std::map<std::string, std::string> gradients;  ///< the input that each output of `gradient` belongs to
};

/// Compares the gradients of sum(weights * y) with central differences.
void check_gradients(const DifferentiatedNode& node);

}  // namespace ort_train::tests
