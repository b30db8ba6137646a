#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cudnn/plan.h"

namespace ort_train::runtime::cuda::cudnn {

/// A plan that can be written to a file and restored from it.
class StorablePlan : public Plan {
 public:
  /// Empty when cuDNN cannot store this kind of plan.
  virtual std::vector<std::uint8_t> serialize() const = 0;
};

/// What Planner needs of cudnn-frontend. Its headers take a minute to compile, so one file alone includes them; nothing
/// is cached here.
class Frontend {
 public:
  explicit Frontend(cudnnHandle_t handle);
  explicit Frontend(const DeviceProperties& properties);
  ~Frontend();

  const std::string& device_key() const;

  /// Up to `count` plans, best first, by heuristics mode A and then the fallback engines. Empty when there is none.
  std::vector<std::shared_ptr<const StorablePlan>> build(const OperationGraph& graph, std::size_t workspace_limit_bytes,
                                                         int count, std::string* refusal) const;

  /// Null when the bytes are not a plan that this cuDNN takes for this device.
  std::shared_ptr<const StorablePlan> restore(const OperationGraph& graph,
                                              const std::vector<std::uint8_t>& bytes) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ort_train::runtime::cuda::cudnn
