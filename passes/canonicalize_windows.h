#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Writes out what convolutions and pools may leave implicit: kernel_shape, strides, dilations, and `pads` where
/// auto_pad asked for SAME or VALID. Needs static shapes.
class CanonicalizeWindows : public Pass {
 public:
  std::string name() const override { return "canonicalize-windows"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
