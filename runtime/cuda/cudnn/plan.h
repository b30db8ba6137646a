#pragma once

#include <cudnn.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "runtime/cuda/cudnn/operation_graph.h"

namespace ort_train::runtime::cuda::cudnn {

/// A way in which cuDNN runs an operation graph on devices of one kind. Immutable; replicas on equal devices share it
/// and may execute it at the same time, each with its own handle and workspace.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::size_t workspace_bytes() const = 0;

  /// cuDNN's name of the engine and its knobs; for messages and reports only.
  virtual std::string name() const = 0;

  /// Enqueues on the handle's stream. `pointers` has one device pointer a tensor, by TensorId; null for virtual
  /// tensors and numbers by value. Pointers are aligned to 16 bytes; `workspace` holds workspace_bytes() and belongs to
  /// this call until it is done. May be captured into a CUDA graph, which the plan has to outlive. Throws when cuDNN
  /// refuses.
  virtual void execute(cudnnHandle_t handle, std::span<void* const> pointers, void* workspace) const = 0;
};

/// The kind of device that plans are made for, as the JSON text of cuDNN's device-property descriptor (see cuDNN's
/// CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION). With it plans are made on a machine without a GPU.
struct DeviceProperties {
  std::string json;
};

struct PlannerOptions {
  /// Where plans are kept between runs, one file each; empty: nowhere. Files that are damaged or of another device,
  /// driver or library version are ignored and replaced.
  std::filesystem::path cache_folder;
  /// Plans that need more scratch memory are not taken.
  std::size_t workspace_limit_bytes = std::size_t{1} << 30;
};

/// Finds plans for the devices of one kind and keeps them. Safe to use from several threads at once.
class Planner {
 public:
  /// For the device of `handle`, which is not kept. Throws when cuDNN is older than 9.8 or fails.
  explicit Planner(cudnnHandle_t handle, PlannerOptions options = {});
  /// Without a device.
  explicit Planner(const DeviceProperties& properties, PlannerOptions options = {});
  ~Planner();

  /// The planner of all devices of this kind in this process: replicas on equal devices get the same one. The options
  /// of the first call count.
  static std::shared_ptr<Planner> shared(cudnnHandle_t handle, const PlannerOptions& options = {});

  /// cuDNN's first choice, or null when it has no engine for the graph on this device: the caller then takes another
  /// way. (A batch normalization that stands alone falls back to cuDNN's older calls, see batch_normalization.h.) Why
  /// is in `refusal`, when given. Throws for a graph that is wrong in itself (`OperationGraph::check`).
  std::shared_ptr<const Plan> find(const OperationGraph& graph, std::string* refusal = nullptr);

  /// Like `find`, but measures the first `candidates` plans on the device with these buffers (contents are
  /// overwritten) and keeps the quickest, from now on also for `find`. `workspace` holds `workspace_bytes`; plans that
  /// need more are left out. Synchronizes the handle's stream, so never while it is captured.
  std::shared_ptr<const Plan> autotune(const OperationGraph& graph, cudnnHandle_t handle,
                                       std::span<void* const> pointers, void* workspace, std::size_t workspace_bytes,
                                       int candidates = 8);

  /// What plans on disk are keyed by, besides the graph: device, compute capability, driver, cuDNN, frontend.
  const std::string& device_key() const;

  /// Files read from and written to the cache folder so far; for reports and tests.
  struct CacheCounts {
    int loaded = 0;
    int written = 0;
    int ignored = 0;
  };
  CacheCounts cache_counts() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ort_train::runtime::cuda::cudnn
