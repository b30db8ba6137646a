#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <memory>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "runtime/cuda/cudnn/plan.h"
#include "runtime/cuda/format.h"
#include "runtime/cuda/handles.h"
#include "runtime/planning/kernel.h"

namespace ort_train::runtime::cuda {

class Communicator;
class HostScratch;
class Watch;

/// What all kernels of one executable share. Handles belong to the device; they outlive every executable.
struct Context {
  int device = 0;
  /// Major times 10 plus minor: 90 for an H200.
  int compute_capability = 0;
  bool allow_tf32 = false;
  cudaStream_t compute = nullptr;
  cudaStream_t communication = nullptr;
  cudnnHandle_t dnn = nullptr;
  cublasLtHandle_t blas = nullptr;
  std::shared_ptr<cudnn::Planner> plans;
  /// Of the replica that the graph is one of, null for a graph on its own.
  Communicator* communicator = nullptr;
  /// Where kernels that run on the host exchange arrays with the device, and report what they could not do.
  std::shared_ptr<HostScratch> host_scratch;
  /// Waits for the work of the device.
  std::shared_ptr<Watch> watch;

  /// Makes the device the current one of the calling thread.
  void activate() const { check(cudaSetDevice(device), "use the GPU"); }
};

using Kernel = planning::Kernel<Format>;
using Request = planning::Request<Format, Context>;
using planning::Pointers;
using planning::Sharing;
using planning::Slot;

/// Null when the factory has no kernel for this node; another factory of the operator, and at last the host, is asked
/// then.
using Factory = std::unique_ptr<Kernel> (*)(const Request&);

/// Declares a factory at namespace scope, for an operator of the default domain or of graph::training_domain. Of
/// several for one operator the one with the highest priority is asked first.
class FactoryRegistration {
 public:
  FactoryRegistration(const std::string& op_type, Factory factory, int priority = 0, std::string_view domain = "");
};
class TrainingFactoryRegistration {
 public:
  TrainingFactoryRegistration(const std::string& op_type, Factory factory, int priority = 0)
      : registration_(op_type, factory, priority, graph::training_domain) {}

 private:
  FactoryRegistration registration_;
};

/// Every operator with a host kernel runs; factories bring it to the GPU.
bool has_kernel(const graph::Node& node);

/// The kernel of the first factory that has one for the request, or one that runs on the host. Nodes with empty arrays
/// run on the host, where there is nothing to do; `host_only` has every other node run there as well, except
/// collectives.
std::unique_ptr<Kernel> make_kernel(const Request& request, bool host_only);

}  // namespace ort_train::runtime::cuda
