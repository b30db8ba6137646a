#pragma once

#include <map>
#include <string>

#include "passes/pass.h"

namespace ort_train::passes {

/// Gives every input its extents in numbers, so that everything after it is static: shape arithmetic folds away and the
/// runtime plans its memory once. A training run has one such graph for each batch size it meets (the last, partial
/// batch is another one); they share their state.
class BindShapes : public Pass {
 public:
  explicit BindShapes(std::map<std::string, Dims> input_dims) : input_dims_(std::move(input_dims)) {}
  std::string name() const override { return "bind-shapes"; }
  bool run(graph::Graph& graph) override;

 private:
  std::map<std::string, Dims> input_dims_;
};

}  // namespace ort_train::passes
