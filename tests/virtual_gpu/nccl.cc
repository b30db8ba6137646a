// NCCL: a communicator is a meeting place for the streams of its ranks.
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/data_type.h"
#include "base/dispatch.h"
#include "tests/virtual_gpu/core.h"

using namespace virtual_gpu;
using ort_train::DataType;

namespace {

enum class Kind { all_reduce, broadcast, reduce, reduce_scatter, all_gather };

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::all_reduce: return "ncclAllReduce";
    case Kind::broadcast: return "ncclBroadcast";
    case Kind::reduce: return "ncclReduce";
    case Kind::reduce_scatter: return "ncclReduceScatter";
    case Kind::all_gather: return "ncclAllGather";
  }
  return "";
}

DataType to_data_type(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32: return DataType::float32;
    case ncclFloat64: return DataType::float64;
    case ncclFloat16: return DataType::float16;
    case ncclBfloat16: return DataType::bfloat16;
    case ncclInt8: return DataType::int8;
    case ncclUint8: return DataType::uint8;
    case ncclInt32: return DataType::int32;
    case ncclUint32: return DataType::uint32;
    case ncclInt64: return DataType::int64;
    case ncclUint64: return DataType::uint64;
    default: return DataType::undefined;
  }
}

/// What all ranks must agree on.
struct Call {
  Kind kind = Kind::all_reduce;
  std::size_t count = 0;
  DataType type = DataType::undefined;
  ncclRedOp_t operation = ncclSum;
  int root = 0;

  bool operator==(const Call&) const = default;
  std::string text() const { return std::string(name_of(kind)) + " of " + std::to_string(count) + " elements"; }
};

/// One operation that ranks come to one after the other.
struct Meeting {
  Call call;
  int arrived = 0, left = 0;
  bool done = false;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  std::vector<Clock> clocks;
};

struct Group {
  explicit Group(int ranks) : ranks(ranks) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  std::map<std::uint64_t, Meeting> meetings;
};

template <typename T>
T combined(ncclRedOp_t operation, T a, T b) {
  switch (operation) {
    case ncclProd: return static_cast<T>(a * b);
    case ncclMax: return std::max(a, b);
    case ncclMin: return std::min(a, b);
    default: return static_cast<T>(a + b);
  }
}

/// Elements [begin, begin + count) of what all ranks bring. 16-bit floats are combined in float and rounded once.
template <typename T>
std::vector<T> reduced(const Meeting& meeting, std::size_t begin, std::size_t count) {
  constexpr bool is_half = std::is_same_v<T, ort_train::Float16> || std::is_same_v<T, ort_train::BFloat16>;
  using Sum = std::conditional_t<is_half, float, T>;
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    Sum sum{};
    for (std::size_t rank = 0; rank < meeting.sources.size(); ++rank) {
      const auto element = static_cast<Sum>(static_cast<const T*>(meeting.sources[rank])[begin + i]);
      sum = rank == 0 ? element : combined(meeting.call.operation, sum, element);
    }
    if (meeting.call.operation == ncclAvg) sum = static_cast<Sum>(sum / static_cast<Sum>(meeting.sources.size()));
    result[i] = static_cast<T>(sum);
  }
  return result;
}

template <typename T>
void put(void* target, const std::vector<T>& elements) {
  std::copy(elements.begin(), elements.end(), static_cast<T*>(target));
}

template <typename T>
void compute(const Meeting& meeting) {
  const Call& call = meeting.call;
  switch (call.kind) {
    case Kind::all_reduce: {
      const auto sums = reduced<T>(meeting, 0, call.count);
      for (void* target : meeting.targets) put(target, sums);
      break;
    }
    case Kind::reduce:
      put(meeting.targets[static_cast<std::size_t>(call.root)], reduced<T>(meeting, 0, call.count));
      break;
    case Kind::reduce_scatter: {
      // A target may be a part of a source.
      std::vector<std::vector<T>> parts;
      for (std::size_t rank = 0; rank < meeting.targets.size(); ++rank) {
        parts.push_back(reduced<T>(meeting, rank * call.count, call.count));
      }
      for (std::size_t rank = 0; rank < parts.size(); ++rank) put(meeting.targets[rank], parts[rank]);
      break;
    }
    case Kind::broadcast: {
      const T* source = static_cast<const T*>(meeting.sources[static_cast<std::size_t>(call.root)]);
      const std::vector<T> elements(source, source + call.count);
      for (void* target : meeting.targets) put(target, elements);
      break;
    }
    case Kind::all_gather: {
      std::vector<T> all;
      for (const void* source : meeting.sources) {
        const T* part = static_cast<const T*>(source);
        all.insert(all.end(), part, part + call.count);
      }
      for (void* target : meeting.targets) put(target, all);
      break;
    }
  }
}

struct Groups {
  std::mutex mutex;
  std::uint64_t next_id = 1;
  std::map<std::uint64_t, std::shared_ptr<Group>> by_id;
};

Groups& groups() {
  static auto* const only = new Groups;
  return *only;
}

}  // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank = 0, device = 0;
  std::uint64_t operations = 0;  // carried out by its streams so far
  std::atomic<bool> aborted = false;
  std::atomic<int> async_error = ncclSuccess;
};

namespace {

/// A fault: this rank never comes to the meeting.
void hang(ncclComm& communicator) {
  while (!communicator.aborted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string missing_ranks(const Meeting& meeting) {
  std::string ranks;
  for (std::size_t rank = 0; rank < meeting.targets.size(); ++rank) {
    if (meeting.targets[rank] == nullptr) ranks += " " + std::to_string(rank);
  }
  return ranks;
}

void arrive(ncclComm& communicator, Meeting& meeting, const Call& call, const void* source, void* target,
            const Clock& clock) {
  const auto ranks = static_cast<std::size_t>(communicator.group->ranks);
  const auto rank = static_cast<std::size_t>(communicator.rank);
  if (meeting.arrived == 0) {
    meeting.call = call;
    meeting.sources.resize(ranks);
    meeting.targets.resize(ranks);
    meeting.clocks.resize(ranks);
  } else if (!(meeting.call == call)) {
    report("collective", "rank " + std::to_string(rank) + " comes with " + call.text() + " where another comes with " +
                             meeting.call.text());
    communicator.async_error = ncclInvalidUsage;
  }
  meeting.sources[rank] = source;
  meeting.targets[rank] = target;
  meeting.clocks[rank] = clock;
  ++meeting.arrived;
}

void meet(ncclComm& communicator, const Call& call, const void* source, void* target, Running& running) {
  if (const int error = injected("ncclHang" + std::to_string(communicator.rank))) {
    communicator.async_error = error;
    return hang(communicator);
  }
  Group& group = *communicator.group;
  std::unique_lock lock(group.mutex);
  const std::uint64_t number = communicator.operations++;
  Meeting& meeting = group.meetings[number];
  arrive(communicator, meeting, call, source, target, running.clock);
  if (meeting.arrived == group.ranks) {
    ort_train::dispatch(call.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) compute<T>(meeting);
    });
    meeting.done = true;
    group.changed.notify_all();
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds());
  while (!meeting.done && !communicator.aborted) {
    group.changed.wait_for(lock, std::chrono::milliseconds(20));
    if (!meeting.done && std::chrono::steady_clock::now() > deadline) {
      report("collective",
             call.text() + ": rank " + std::to_string(communicator.rank) + " waits for rank" + missing_ranks(meeting));
    }
  }
  if (!meeting.done) return;
  for (const Clock& clock : meeting.clocks) join(running.clock, clock);
  if (++meeting.left == group.ranks) group.meetings.erase(number);
}

ncclResult_t issue(ncclComm_t communicator, const Call& call, const void* source, void* target, cudaStream_t stream) {
  if (const int error = injected(name_of(call.kind))) return static_cast<ncclResult_t>(error);
  if (communicator == nullptr || call.type == DataType::undefined) return ncclInvalidArgument;
  if (communicator->aborted) return ncclInvalidUsage;
  if (device_of(stream) != communicator->device) {
    report("device", std::string(name_of(call.kind)) + ": the stream is not one of the communicator's device");
    return ncclInvalidArgument;
  }
  const std::size_t bytes = call.count * ort_train::size_of(call.type);
  const auto ranks = static_cast<std::size_t>(communicator->group->ranks);
  const std::vector<Access> accesses = {read_of(source, call.kind == Kind::reduce_scatter ? bytes * ranks : bytes),
                                        write_of(target, call.kind == Kind::all_gather ? bytes * ranks : bytes)};
  const cudaError_t status = enqueue(stream, name_of(call.kind), accesses,
                                     [=](Running& running) { meet(*communicator, call, source, target, running); });
  return status == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const int error = injected("ncclGetUniqueId")) return static_cast<ncclResult_t>(error);
  std::memset(id, 0, sizeof *id);
  const std::lock_guard lock(groups().mutex);
  const std::uint64_t number = groups().next_id++;
  std::memcpy(id->internal, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  if (const int error = injected("ncclCommInitRank")) return static_cast<ncclResult_t>(error);
  if (rank < 0 || rank >= ranks) return ncclInvalidArgument;
  std::uint64_t number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  std::shared_ptr<Group> group;
  {
    const std::lock_guard lock(groups().mutex);
    std::shared_ptr<Group>& known = groups().by_id[number];
    if (known == nullptr) known = std::make_shared<Group>(ranks);
    group = known;
  }
  if (group->ranks != ranks) return ncclInvalidArgument;
  auto made = std::make_unique<ncclComm>();
  made->group = group;
  made->rank = rank;
  made->device = current_device();
  std::unique_lock lock(group->mutex);
  ++group->joined;
  group->changed.notify_all();
  if (!group->changed.wait_for(lock, std::chrono::duration<double>(timeout_seconds()),
                               [&] { return group->joined >= ranks; })) {
    report("collective", "ncclCommInitRank: only " + std::to_string(group->joined) + " of " + std::to_string(ranks) +
                             " ranks have come");
    return ncclSystemError;
  }
  *communicator = made.release();
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  *count = communicator->group->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  *rank = communicator->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  *device = communicator->device;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = static_cast<ncclResult_t>(communicator->async_error.load());
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

// Not freed: its operations may still be under way.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->aborted = true;
  communicator->group->changed.notify_all();
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }

ncclResult_t ncclAllReduce(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, {Kind::all_reduce, count, to_data_type(type), operation, 0}, source, target, stream);
}

ncclResult_t ncclBroadcast(const void* source, void* target, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, {Kind::broadcast, count, to_data_type(type), ncclSum, root}, source, target, stream);
}

ncclResult_t ncclReduce(const void* source, void* target, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, {Kind::reduce, count, to_data_type(type), operation, root}, source, target, stream);
}

ncclResult_t ncclReduceScatter(const void* source, void* target, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, {Kind::reduce_scatter, count, to_data_type(type), operation, 0}, source, target, stream);
}

ncclResult_t ncclAllGather(const void* source, void* target, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return issue(communicator, {Kind::all_gather, count, to_data_type(type), ncclSum, 0}, source, target, stream);
}

}  // extern "C"
