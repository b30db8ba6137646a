#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

/// Pinned memory that the host kernels of an executable use one after the other, and words in which all its kernels
/// leave their errors: a stream has no other way to report them.
class HostScratch {
 public:
  /// The largest reservation counts; none after `allocate`.
  void reserve(std::size_t bytes);
  void allocate();
  std::byte* memory() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

  /// A kernel on the device cannot throw; it writes the index or label that is wrong into a word of its own, any of
  /// them where there are several, and goes on without touching memory that is not its own. A kernel on the host keeps
  /// its sentence itself and writes anything.
  using Sentence = std::function<std::string(std::int64_t)>;
  /// Gives the word's number; `sentence` says what is wrong about what was written. None after `allocate`.
  std::size_t add_error_word(Sentence sentence);
  std::int64_t* error_word(std::size_t number) const;
  /// What a word holds when nothing is wrong: no axis and no set of classes is without number 0, while all others,
  /// down to the least int64, are wrong somewhere.
  static constexpr std::int64_t no_error = 0;

  /// Throws what was written, once: of several errors that of the word that was added first, as nodes come in the order
  /// in which they run. The stream must have been synchronized.
  void rethrow_error();

 private:
  std::size_t bytes_ = 0;
  std::vector<Sentence> sentences_;
  std::shared_ptr<std::byte> memory_, words_;
};

/// Runs the host kernel of kernels/ in the stream's order: operands are copied to the host and results back, and
/// nothing waits on the host. For operators that have no kernel on the GPU; throws when they have none at all.
std::unique_ptr<Kernel> make_host_kernel(const Request& request);

}  // namespace ort_train::runtime::cuda
