#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <string>

#include "base/data_type.h"
#include "runtime/collectives/collective.h"

namespace ort_train::runtime::cuda {

/// What connects the GPUs of all replicas. Operations are put on a stream; every replica puts the same ones in the same
/// order, as with Collective, whose rules for memory hold here too.
class Communicator {
 public:
  /// All replicas make theirs at the same time, each with its GPU current. `collective` carries the id by which NCCL
  /// finds the others, wherever they are, and the news of a failure; it outlives the communicator.
  explicit Communicator(Collective& collective);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int replicas() const { return replicas_; }

  void all_reduce(DataType dtype, void* memory, std::size_t count, cudaStream_t stream);
  void reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count, cudaStream_t stream);
  void all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count, cudaStream_t stream);

  /// Throws what ended the run elsewhere, what NCCL found out since the operations were put on their streams (a GPU or
  /// a connection that failed), or, after more seconds of waiting than the replicas have, that they did not end.
  void check_health(double seconds_waited);
  /// Ends the operations under way on this GPU, and with that reason those of the other replicas; nothing works any
  /// more after it.
  void abort(const std::string& reason) noexcept;

 private:
  Collective& collective_;
  int rank_, replicas_;
  ncclComm_t communicator_ = nullptr;
  bool aborted_ = false;
};

}  // namespace ort_train::runtime::cuda
