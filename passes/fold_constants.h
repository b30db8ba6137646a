#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Infers types in order and computes, once and for all, every node whose inputs are constants or whose result is known
/// from types alone (Shape, Size): what shape arithmetic becomes when all extents are numbers. Parameters, frozen ones
/// too, are not constants and stay.
class FoldConstants : public Pass {
 public:
  std::string name() const override { return "fold-constants"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
