#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ort_train::runtime::cuda {

class Communicator;

/// Waits for work on a GPU in such a way that the waiting ends, with a reason, when the work cannot: because another
/// replica failed or does not come. Of one device, for one thread at a time.
class Watch {
 public:
  /// From now on waiting looks after `communicator`.
  void look_after(std::shared_ptr<Communicator> communicator) { communicators_.push_back(std::move(communicator)); }

  /// Returns when everything put on the stream so far is done, or the event has happened. Throws what a GPU or another
  /// replica failed of; what was under way on this GPU between replicas has been given up then.
  void wait(cudaStream_t stream) const;
  void wait(cudaEvent_t event) const;

  /// Ends the operations between replicas everywhere, with this reason.
  void give_up(const std::string& reason) const noexcept;

 private:
  void wait_until(const std::function<cudaError_t()>& query) const;

  std::vector<std::shared_ptr<Communicator>> communicators_;
};

}  // namespace ort_train::runtime::cuda
