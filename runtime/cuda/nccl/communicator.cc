#include "runtime/cuda/nccl/communicator.h"

#include <utility>

#include "base/error.h"
#include "runtime/cuda/error.h"

namespace ort_train::runtime::cuda {

namespace {

ncclDataType_t nccl_type(DataType dtype) {
  switch (dtype) {
    case DataType::float32: return ncclFloat32;
    case DataType::float64: return ncclFloat64;
    case DataType::float16: return ncclFloat16;
    case DataType::bfloat16: return ncclBfloat16;
    case DataType::int64: return ncclInt64;
    case DataType::int32: return ncclInt32;
    case DataType::uint64: return ncclUint64;
    case DataType::uint32: return ncclUint32;
    case DataType::int8: return ncclInt8;
    case DataType::uint8:
    case DataType::boolean: return ncclUint8;
    default: fail("NCCL does not carry ", name_of(dtype));
  }
}

}  // namespace

Communicator::Communicator(Collective& collective)
    : collective_(collective), rank_(collective.rank()), replicas_(collective.replicas()) {
  ncclUniqueId id = {};
  if (rank_ == 0) check(ncclGetUniqueId(&id), "make an id for the replicas to find each other");
  collective.wait(collective.broadcast(DataType::uint8, id.internal, sizeof id.internal, 0));
  check(ncclCommInitRank(&communicator_, replicas_, id, rank_), "connect the GPUs of the replicas");
}

Communicator::~Communicator() {
  if (communicator_ != nullptr && !aborted_) ncclCommDestroy(communicator_);
}

void Communicator::all_reduce(DataType dtype, void* memory, std::size_t count, cudaStream_t stream) {
  check(ncclAllReduce(memory, memory, count, nccl_type(dtype), ncclSum, communicator_, stream), "add up the replicas");
}

void Communicator::reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count,
                                  cudaStream_t stream) {
  check(ncclReduceScatter(memory, part, part_count, nccl_type(dtype), ncclSum, communicator_, stream),
        "add up and scatter");
}

void Communicator::all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count,
                              cudaStream_t stream) {
  check(ncclAllGather(part, memory, part_count, nccl_type(dtype), communicator_, stream), "gather the parts");
}

void Communicator::check_health(double seconds_waited) {
  // Nothing is under way any more, and what is left on the stream ends by itself: the state can still be read.
  if (aborted_) return;
  collective_.throw_if_failed();
  ncclResult_t status = ncclSuccess;
  check(ncclCommGetAsyncError(communicator_, &status), "tell how it is");
  if (status != ncclInProgress) check(status, "reach the other replicas");
  if (seconds_waited <= collective_.timeout_seconds()) return;
  fail("the operations between the GPUs did not end within ", collective_.timeout_seconds(),
       " s: a replica is missing, or a GPU or the connection between GPUs hangs ('collective_timeout' sets the limit)");
}

void Communicator::abort(const std::string& reason) noexcept {
  collective_.abort(reason);
  if (!std::exchange(aborted_, true)) ncclCommAbort(communicator_);
}

}  // namespace ort_train::runtime::cuda
