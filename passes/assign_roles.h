#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Gives the role of running statistic to inputs 3 and 4 of each BatchNormalization. One that an exporter merged with
/// other equal arrays gets a copy of its own, "<output>.running_mean" or "<output>.running_var", since each will move
/// on its own. Returns whether it changed anything.
bool separate_running_statistics(graph::Graph& graph);

/// Says what each initializer is for: running statistics, hyper-parameters that are no weights (the scales of Resize,
/// the bounds of Clip, ...), parameters. Constant nodes become initializers: those that sit where an operator has its
/// weight become parameters.
class AssignRoles : public Pass {
 public:
  std::string name() const override { return "assign-roles"; }
  bool run(graph::Graph& graph) override;
};

}  // namespace ort_train::passes
