#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Rewrites every node of the default domain into the form that the newest opset gives it (axes as inputs, Softmax over
/// one axis, Dropout's ratio as an input, ...), so that later passes and kernels meet one form only. Reads opset 9 and
/// newer.
class NormalizeOpset : public Pass {
 public:
  static constexpr std::int64_t oldest = 9;
  static constexpr std::int64_t newest = 28;
  static constexpr std::int64_t newest_ir_version = 14;

  std::string name() const override { return "normalize-opset"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
