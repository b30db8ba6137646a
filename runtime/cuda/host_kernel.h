#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// Pinned memory that the host kernels of an executable use one after the other, and the first error of one of them: a
/// stream has no other way to report it.
class HostScratch {
 public:
  /// The largest reservation counts; none after `allocate`.
  void reserve(std::size_t bytes);
  void allocate();
  std::byte* memory() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

  void keep_error(const std::string& message);
  /// Throws what was kept, once. The stream must have been synchronized.
  void rethrow_error();

 private:
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte> memory_;
  std::mutex mutex_;
  std::string error_;
};

/// Runs the host kernel of kernels/ in the stream's order: operands are copied to the host and results back, and
/// nothing waits on the host. For operators that have no kernel on the GPU; throws when they have none at all.
std::unique_ptr<Kernel> make_host_kernel(const Request& request);

}  // namespace ort_train::runtime::cuda
