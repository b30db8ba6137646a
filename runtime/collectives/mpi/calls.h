#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace ort_train::runtime {

/// Throws an Error with MPI's own words when `code` is one; `what` is the call.
void check_mpi(int code, const char* what);

/// Messages under way. The memory of each belongs to MPI until `completed` has named it.
class Requests {
 public:
  /// Both return the number of the message. At most 2 GiB.
  std::size_t send(const void* memory, std::size_t bytes, int process, int tag);
  std::size_t receive(void* memory, std::size_t bytes, int process, int tag);

  /// The numbers of those that ended since the last call. Does not wait.
  std::vector<std::size_t> completed();
  bool all_done() const { return under_way_ == 0; }
  /// The processes at the other ends, in order, each once.
  std::vector<int> partners() const;
  /// Forgets all messages and begins to count from 0 again. Those still under way are given up.
  void clear() noexcept;

 private:
  std::size_t add(MPI_Request request, int process, bool receives);

  std::vector<MPI_Request> requests_;
  std::vector<int> processes_;
  std::vector<char> receives_;
  std::vector<int> ended_;
  std::size_t under_way_ = 0;
};

/// Sleeps between two looks: shortly at first, and up to a millisecond when nothing comes for long. The cores belong
/// to the computation.
class Backoff {
 public:
  void pause();
  void reset() { looks_ = 0; }

 private:
  int looks_ = 0;
};

}  // namespace ort_train::runtime
