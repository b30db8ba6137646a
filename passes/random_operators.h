#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace ort_train::passes {

/// RandomNormal, RandomUniform, their Like forms, Bernoulli and Multinomial: ONNX leaves the numbers open.
bool is_random_operator(const graph::Node& node);

/// Where the numbers come from: values are functions of these, the row and the element.
struct RandomSource {
  std::uint64_t seed = 0;
  graph::Value* step = nullptr;          ///< int64 scalar
  graph::Value* first_sample = nullptr;  ///< int64 scalar
};

/// Writes a random operator with RandomValues of `stream`; a `seed` of the node itself is mixed into that of the
/// source. Extents must be known. Bernoulli compares a uniform number with the probability; Multinomial takes the class
/// with the largest log-probability plus Gumbel noise (C. J. Maddison, D. Tarlow and T. Minka, "A* sampling", 2014).
void lower_random_operator(graph::Node& node, const RandomSource& source, std::int64_t stream);

}  // namespace ort_train::passes
