#pragma once

#include "graph/graph.h"
#include "kernels/functors/scatter_reduction.h"

namespace ort_train::kernels {

/// The attribute 'reduction' of ScatterElements and ScatterND.
inline functors::ScatterReduction scatter_reduction(const graph::Node& node) {
  using functors::ScatterReduction;
  const std::string name = node.string("reduction", "none");
  if (name == "none") return ScatterReduction::none;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::mul;
  if (name == "max") return ScatterReduction::max;
  if (name == "min") return ScatterReduction::min;
  fail("the reduction '", name, "' is none of none, add, mul, max and min");
}

}  // namespace ort_train::kernels
