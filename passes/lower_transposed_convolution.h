#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// ConvTranspose is the gradient of Conv for its input: it becomes ConvGradInput (and an Add for the bias), so that one
/// kernel and one gradient rule serve both. Needs static shapes and explicit pads.
class LowerTransposedConvolution : public Pass {
 public:
  std::string name() const override { return "lower-transposed-convolution"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
