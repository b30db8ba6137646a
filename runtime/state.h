#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace ort_train::runtime {

/// Everything that outlives a step: parameters, running statistics, optimizer slots. Executables of several batch sizes
/// share one. Inside, an array may lie in the layout its kernels like best; `get` and `set` speak plain row-major.
class State {
 public:
  virtual ~State() = default;
  virtual std::vector<std::string> names() const = 0;
  virtual bool contains(const std::string& name) const = 0;
  virtual graph::Role role(const std::string& name) const = 0;
  /// A row-major copy. Throws when there is no such state.
  virtual Tensor get(const std::string& name) const = 0;
  /// Throws when type or extents differ.
  virtual void set(const std::string& name, const Tensor& elements) = 0;
};

}  // namespace ort_train::runtime
