#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace ort_train::kernels {

/// One call of an operator on dense row-major host arrays. `inputs` and `outputs` follow the node's; a left-out one is
/// an undefined Tensor. Outputs have their inferred type and extents already; only where the extents depend on the
/// elements of an input (NonZero, say) is the output undefined, and the kernel assigns it.
struct Invocation {
  const graph::Node& node;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;

  bool has_input(std::size_t index) const { return index < inputs.size() && inputs[index].defined(); }
  bool has_output(std::size_t index) const { return index < outputs.size() && outputs[index].defined(); }
};

/// A plain host implementation. It is the definition of the operator for tests, folds constants in passes, and runs the
/// operator on the CPU where no faster kernel exists. Pure: equal inputs give equal bits, whatever the thread count.
using Kernel = void (*)(Invocation&);

/// Null when there is none. `domain` "" is the default ONNX domain. Semantics are those of the newest opset.
Kernel find_kernel(std::string_view op_type, std::string_view domain = "");

/// Every registered (domain, operator), sorted.
std::vector<std::pair<std::string, std::string>> registered_kernels();

/// Declares a kernel at namespace scope: `const Registration relu("Relu", compute_relu);`
class Registration {
 public:
  Registration(const std::string& op_type, Kernel kernel, std::string_view domain = "");
};

/// The same for an operator of graph::training_domain.
class TrainingRegistration {
 public:
  TrainingRegistration(const std::string& op_type, Kernel kernel)
      : registration_(op_type, kernel, graph::training_domain) {}

 private:
  Registration registration_;
};

/// Runs one node on host arrays: makes the outputs, calls the kernel. Throws an Error that names the node.
std::vector<Tensor> evaluate(const graph::Node& node, const std::vector<Tensor>& inputs);

/// Runs a whole graph node by node: the oracle that planned executables are compared with. `feeds` holds the inputs by
/// name and may override state; the result holds the graph outputs and, under the state's name, every update's new
/// value.
std::map<std::string, Tensor> interpret(const graph::Graph& graph, const std::map<std::string, Tensor>& feeds);

}  // namespace ort_train::kernels
