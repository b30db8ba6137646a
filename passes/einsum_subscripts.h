#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace ort_train::passes {

/// The equation of an Einsum with one letter for every axis of every operand and of the result, ellipses written out.
/// Equal letters are one axis; letters that the result lacks are summed over.
struct EinsumSubscripts {
  std::vector<std::string> operands;
  std::string result;
};

/// All ranks must be known. Throws an Error that names the node when an ellipsis stands for too many axes.
EinsumSubscripts einsum_subscripts(const graph::Node& node);

}  // namespace ort_train::passes
