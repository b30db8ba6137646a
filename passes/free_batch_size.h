#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Makes a batch size that the exporter baked into the file a symbol again: axis 0 of the inputs, and the copies of
/// that number in the shapes that Reshape, Expand and ConstantOfShape take as constants. Does nothing when axis 0 of
/// the inputs is symbolic already or differs among them.
class FreeBatchSize : public Pass {
 public:
  std::string name() const override { return "free-batch-size"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
