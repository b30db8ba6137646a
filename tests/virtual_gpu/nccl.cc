// Entry points of NCCL. Communicators meet on a board, within a process or between several.
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "tests/virtual_gpu/core.h"
#include "tests/virtual_gpu/nccl_arithmetic.h"
#include "tests/virtual_gpu/nccl_board.h"

using namespace virtual_gpu;

namespace {

struct State {
  std::shared_ptr<Board> board;
  int device = 0;
  std::atomic<bool> aborted = false;
};

}  // namespace

/// Operations under way outlive the communicator.
struct ncclComm {
  std::shared_ptr<State> state;
};

namespace {

/// What is asked for between ncclGroupStart and ncclGroupEnd, per thread.
struct GroupCalls {
  int depth = 0;
  std::vector<std::function<ncclResult_t()>> calls;
};
thread_local GroupCalls group;

ncclResult_t now_or_at_group_end(std::function<ncclResult_t()> call) {
  if (group.depth == 0) return call();
  group.calls.push_back(std::move(call));
  return ncclSuccess;
}

/// Reports, once, when the others do not come, and before a host that waits for the stream loses patience; goes on
/// waiting as NCCL does, until the communicator is aborted.
std::function<bool()> patience(State& state, const char* operation) {
  const auto start = std::chrono::steady_clock::now();
  return [&state, operation, start, told = false]() mutable {
    const auto waited = std::chrono::steady_clock::now() - start;
    if (!told && waited > std::chrono::duration<double>(timeout_seconds() / 2) && !state.aborted) {
      told = true;
      report("collective", std::string(operation) + ": rank " + std::to_string(state.board->rank()) +
                               " waits for rank" + state.board->missing_ranks());
    }
    if (waited > std::chrono::milliseconds(200) && state.board->somebody_is_gone()) state.board->fail(ncclRemoteError);
    return !state.aborted;
  };
}

/// Faults: this rank never comes.
bool is_lost(State& state) {
  const std::string rank = std::to_string(state.board->rank());
  const int death = injected("death" + rank);
  if (death != 0) state.board->fail(death);
  if (death == 0 && injected("hang" + rank) == 0) return false;
  while (!state.aborted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

std::string text_of(const Board::Call& call) {
  return std::string(name_of(static_cast<Collective>(call.kind))) + " of " + std::to_string(call.count) + " elements";
}

bool all_agree(State& state, const Board::Call& call) {
  for (int rank = 0; rank < state.board->ranks(); ++rank) {
    const Board::Call other = state.board->call_of(rank);
    if (other == call) continue;
    report("collective", "rank " + std::to_string(state.board->rank()) + " comes with " + text_of(call) +
                             ", but rank " + std::to_string(rank) + " with " + text_of(other) +
                             ", or with another type, operation or root");
    state.board->fail(ncclInvalidUsage);
    return false;
  }
  return true;
}

void carry_out(State& state, const Board::Call& call, const void* source, void* target) {
  Board& board = *state.board;
  const char* const name = name_of(static_cast<Collective>(call.kind));
  if (is_lost(state)) return;
  const std::size_t bytes = source_bytes(call, board.ranks(), board.rank());
  if (!board.bring(call, source, bytes, patience(state, name))) return;
  if (!board.all_have_brought(patience(state, name))) return;
  if (all_agree(state, call)) combine(call, board.brought(), board.rank(), target);
  board.leave();
}

ncclResult_t issue(ncclComm_t communicator, Collective kind, const void* source, void* target, std::size_t count,
                   ncclDataType_t type, ncclRedOp_t operation, int root, cudaStream_t stream) {
  if (const int error = injected(name_of(kind))) return static_cast<ncclResult_t>(error);
  if (communicator == nullptr || element_bytes(type) == 0 || !is_known(operation)) return ncclInvalidArgument;
  const std::shared_ptr<State> state = communicator->state;
  if (root < 0 || root >= state->board->ranks()) return ncclInvalidArgument;
  if (state->aborted) return ncclInvalidUsage;
  return now_or_at_group_end([=] {
    if (device_of(stream) != state->device) {
      report("device", std::string(name_of(kind)) + ": the stream is not one of the communicator's device");
      return ncclInvalidArgument;
    }
    const int ranks = state->board->ranks(), rank = state->board->rank();
    const Board::Call call = {static_cast<int>(kind), type, operation, root, count};
    std::vector<Access> accesses;
    if (const std::size_t bytes = source_bytes(call, ranks, rank)) accesses.push_back(read_of(source, bytes));
    if (const std::size_t bytes = target_bytes(call, ranks, rank)) accesses.push_back(write_of(target, bytes));
    const cudaError_t status =
        enqueue(stream, name_of(kind), std::move(accesses), [=](Running&) { carry_out(*state, call, source, target); });
    return status == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
  });
}

ncclResult_t join(State& state) {
  if (state.board->join(timeout_seconds())) return ncclSuccess;
  report("collective", "ncclCommInitRank: rank " + std::to_string(state.board->rank()) + " waits for rank" +
                           state.board->ranks_that_did_not_join());
  return ncclSystemError;
}

ncclResult_t initialize(ncclComm_t* communicator, int ranks, const ncclUniqueId& id, int rank) {
  if (const int error = injected("ncclCommInitRank")) return static_cast<ncclResult_t>(error);
  if (ranks < 1 || ranks > Board::most_ranks || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  std::uint64_t number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  const auto state = std::make_shared<State>();
  state->device = current_device();
  state->board = Board::open(number, ranks, rank);
  if (state->board == nullptr) {
    report("collective", "ncclCommInitRank: rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                             " does not fit those that have come already");
    return ncclInvalidUsage;
  }
  *communicator = new ncclComm{state};
  return now_or_at_group_end([state] { return join(*state); });
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const int error = injected("ncclGetUniqueId")) return static_cast<ncclResult_t>(error);
  std::memset(id, 0, sizeof *id);
  std::random_device random;
  const std::uint64_t number = (static_cast<std::uint64_t>(random()) << 32) | random();
  std::memcpy(id->internal, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  return initialize(communicator, ranks, id, rank);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank, ncclConfig_t*) {
  return initialize(communicator, ranks, id, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int* devices) {
  ncclUniqueId id;
  if (const ncclResult_t error = ncclGetUniqueId(&id)) return error;
  const int before = current_device();
  ncclGroupStart();
  ncclResult_t result = ncclSuccess;
  for (int rank = 0; rank < count && result == ncclSuccess; ++rank) {
    if (cudaSetDevice(devices == nullptr ? rank : devices[rank]) != cudaSuccess) result = ncclInvalidArgument;
    if (result == ncclSuccess) result = initialize(&communicators[rank], count, id, rank);
  }
  const ncclResult_t end = ncclGroupEnd();
  cudaSetDevice(before);
  return result == ncclSuccess ? end : result;
}

ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  *count = communicator->state->board->ranks();
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  *rank = communicator->state->board->rank();
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  *device = communicator->state->device;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = static_cast<ncclResult_t>(communicator->state->board->failure());
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

// The real one frees the communicator; here the handle stays, so that a later use of it is an error and no accident.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->state->aborted = true;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return ncclInvalidUsage;
  if (--group.depth > 0) return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  for (const auto& call : std::exchange(group.calls, {})) {
    const ncclResult_t status = call();
    if (result == ncclSuccess) result = status;
  }
  return result;
}

ncclResult_t ncclAllReduce(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, Collective::all_reduce, source, target, count, type, operation, 0, stream);
}

ncclResult_t ncclBroadcast(const void* source, void* target, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, Collective::broadcast, source, target, count, type, ncclSum, root, stream);
}

ncclResult_t ncclBcast(void* memory, std::size_t count, ncclDataType_t type, int root, ncclComm_t communicator,
                       cudaStream_t stream) {
  return ncclBroadcast(memory, memory, count, type, root, communicator, stream);
}

ncclResult_t ncclReduce(const void* source, void* target, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, Collective::reduce, source, target, count, type, operation, root, stream);
}

ncclResult_t ncclReduceScatter(const void* source, void* target, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, Collective::reduce_scatter, source, target, count, type, operation, 0, stream);
}

ncclResult_t ncclAllGather(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, Collective::all_gather, source, target, count, type, ncclSum, 0, stream);
}

}  // extern "C"
