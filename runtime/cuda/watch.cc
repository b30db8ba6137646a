#include "runtime/cuda/watch.h"

#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include "runtime/cuda/error.h"
#include "runtime/cuda/nccl/communicator.h"

namespace ort_train::runtime::cuda {

namespace {

using Clock = std::chrono::steady_clock;

/// A step takes milliseconds: the host looks often at first, then seldom enough to leave the core to others.
class Pause {
 public:
  void take() {
    if (taken_ < 64) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(taken_ < 1024 ? 20 : 200));
    }
    ++taken_;
  }

 private:
  int taken_ = 0;
};

constexpr std::chrono::milliseconds between_looks(50);

}  // namespace

void Watch::wait(cudaStream_t stream) const {
  if (communicators_.empty()) return check(cudaStreamSynchronize(stream), "finish its work");
  wait_until([stream] { return cudaStreamQuery(stream); });
}

void Watch::wait(cudaEvent_t event) const {
  if (communicators_.empty()) return check(cudaEventSynchronize(event), "finish its work");
  wait_until([event] { return cudaEventQuery(event); });
}

void Watch::wait_until(const std::function<cudaError_t()>& query) const {
  const Clock::time_point start = Clock::now();
  Clock::time_point looked = start;
  Pause pause;
  try {
    for (cudaError_t status = query(); status != cudaSuccess; status = query()) {
      if (status != cudaErrorNotReady) check(status, "finish its work");
      pause.take();
      const Clock::time_point now = Clock::now();
      if (now - looked < between_looks) continue;
      looked = now;
      for (const auto& communicator : communicators_) {
        communicator->check_health(std::chrono::duration<double>(now - start).count());
      }
    }
  } catch (const std::exception& error) {
    give_up(error.what());
    throw;
  }
}

void Watch::give_up(const std::string& reason) const noexcept {
  for (const auto& communicator : communicators_) communicator->abort(reason);
}

}  // namespace ort_train::runtime::cuda
