#include "tests/virtual_gpu/stream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>

#include "tests/virtual_gpu/access_checker.h"
#include "tests/virtual_gpu/capture.h"
#include "tests/virtual_gpu/memory.h"

namespace virtual_gpu {

namespace {

constexpr int most_devices = 64;

thread_local int current = 0;
std::atomic<cudaError_t> device_errors[most_devices];

/// What the host knows to be done, and how much it has done itself. One clock for all its threads: they order
/// themselves by means that cannot be seen here.
class HostClock {
 public:
  Clock get() {
    const std::lock_guard lock(mutex_);
    return clock_;
  }
  void learn(const Clock& clock) {
    const std::lock_guard lock(mutex_);
    join(clock_, clock);
  }
  Clock advance() {
    const std::lock_guard lock(mutex_);
    if (clock_.empty()) clock_.resize(host_actor + 1);
    ++clock_[host_actor];
    return clock_;
  }

 private:
  std::mutex mutex_;
  Clock clock_;
};

HostClock& host_clock() {
  static auto* const only = new HostClock;
  return *only;
}

struct Streams {
  std::mutex mutex;
  std::map<cudaStream_t, std::shared_ptr<StreamThread>> by_handle;
  std::map<int, std::shared_ptr<StreamThread>> defaults;
  /// Destroyed by the program before their work was done.
  std::vector<std::shared_ptr<StreamThread>> ending;
};

Streams& streams() {
  static auto* const only = new Streams;
  return *only;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string stream_name(int device, StreamThread::Role role) {
  static std::atomic<int> count = 0;
  const std::string of_device = " of device " + std::to_string(device);
  switch (role) {
    case StreamThread::Role::legacy_default: return "the default stream" + of_device;
    case StreamThread::Role::graph_branch: return "graph branch " + std::to_string(count++) + of_device;
    case StreamThread::Role::of_program: break;
  }
  return "stream " + std::to_string(count++) + of_device;
}

/// Held while an operation is put on the default stream or on one that blocks, so that what they wait for of each other
/// has one order.
std::mutex& default_stream_mutex() {
  static auto* const only = new std::mutex;
  return *only;
}

std::shared_ptr<StreamThread> default_stream_if_used(int device) {
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().defaults.find(device);
  return found == streams().defaults.end() ? nullptr : found->second;
}

// Copies between devices and collectives may touch other devices' memory.
bool may_cross_devices(const char* operation) {
  return std::strncmp(operation, "cudaMemcpy", 10) == 0 || std::strncmp(operation, "nccl", 4) == 0;
}

}  // namespace

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

int device_count() {
  static const int count = std::min(static_cast<int>(setting("VIRTUAL_GPU_COUNT", 4)), most_devices);
  return count;
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }
cudaError_t device_error(int device) { return device_errors[device]; }
void fail_device(int device, cudaError_t error) { device_errors[device] = error; }

void Signal::complete(const Clock& clock) {
  {
    const std::lock_guard lock(mutex_);
    clock_ = clock;
    time_ = seconds_now();
    done_ = true;
  }
  changed_.notify_all();
}

bool Signal::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return done_; });
}

bool Signal::is_done() {
  const std::lock_guard lock(mutex_);
  return done_;
}

void host_access(const void* memory, std::size_t bytes, bool writes) {
  check_order({memory, bytes, writes}, host_actor, host_clock().advance(), "the program");
}

cudaError_t synchronize(Signal& signal) {
  if (!signal.wait(timeout_seconds())) {
    report("timeout", "the host waits for a device that does not come to an end");
    return cudaErrorLaunchTimeout;
  }
  host_clock().learn(signal.clock());
  return cudaSuccess;
}

StreamThread::StreamThread(int device, unsigned flags, Role role)
    : device(device), flags(flags), role(role), actor_(new_actor(stream_name(device, role))), thread_([this] {
        run();
      }) {}

StreamThread::~StreamThread() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StreamThread::push(Operation operation) {
  if (role != Role::legacy_default && !is_blocking()) {
    append(std::move(operation));
    return;
  }
  const std::lock_guard lock(default_stream_mutex());
  order_with_default_stream();
  append(std::move(operation));
  ++count_;
}

// The default stream waits for all streams that block, and they wait for it.
void StreamThread::order_with_default_stream() {
  if (role == Role::legacy_default) {
    for (const auto& stream : streams_of(device)) {
      if (stream->is_blocking()) wait_for_work_of(*stream);
    }
  } else if (const auto stream = default_stream_if_used(device)) {
    wait_for_work_of(*stream);
  }
}

void StreamThread::wait_for_work_of(StreamThread& other) {
  std::uint64_t& waited_for = waited_for_[other.actor_];
  if (waited_for == other.count_) return;
  waited_for = other.count_;
  const auto signal = std::make_shared<Signal>();
  other.append({Operation::Kind::record, "record", {}, {}, signal, {}});
  append({Operation::Kind::wait, "wait", {}, {}, signal, {}});
}

void StreamThread::append(Operation operation) {
  operation.host_clock = host_clock().get();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
  }
  changed_.notify_all();
}

void StreamThread::record(const SignalPointer& signal) {
  push({Operation::Kind::record, "record", {}, {}, signal, {}});
}

void StreamThread::wait(const SignalPointer& signal) { push({Operation::Kind::wait, "wait", {}, {}, signal, {}}); }

cudaError_t StreamThread::synchronize() {
  const auto signal = std::make_shared<Signal>();
  record(signal);
  const cudaError_t status = virtual_gpu::synchronize(*signal);
  return status == cudaSuccess ? device_error(device) : status;
}

bool StreamThread::is_idle() {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !busy_;
}

void StreamThread::run() {
  set_current_device(device);
  for (;;) {
    Operation operation;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (queue_.empty()) return;
      operation = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
    }
    carry_out(operation);
  }
}

void StreamThread::carry_out(Operation& operation) {
  join(clock_, operation.host_clock);
  clock_.resize(std::max(clock_.size(), static_cast<std::size_t>(actor_) + 1));
  ++clock_[static_cast<std::size_t>(actor_)];
  switch (operation.kind) {
    case Operation::Kind::record: operation.signal->complete(clock_); return;
    case Operation::Kind::wait:
      if (!operation.signal->wait(2 * timeout_seconds())) report("timeout", "a stream waits for an event in vain");
      join(clock_, operation.signal->clock());
      return;
    case Operation::Kind::work: break;
  }
  static const int jitter = static_cast<int>(setting("VIRTUAL_GPU_JITTER", 0));
  thread_local std::minstd_rand random(static_cast<unsigned>(actor_));
  if (jitter > 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(jitter)));
  if (const int error = injected("device" + std::to_string(device))) {
    fail_device(device, static_cast<cudaError_t>(error));
  }
  if (device_error(device) != cudaSuccess) return;
  if (!accesses_are_valid(operation)) {
    fail_device(device, cudaErrorIllegalAddress);
    return;
  }
  Running running{device, clock_};
  operation.work(running);
}

bool StreamThread::accesses_are_valid(const Operation& operation) const {
  bool valid = true;
  for (const Access& access : operation.accesses) {
    const std::optional<Block> block = find_block(access.memory, access.bytes);
    if (!block) {
      report("bounds", std::string(access.writes ? "write" : "read") + " of " + std::to_string(access.bytes) +
                           " bytes at " + place_of(access.memory) + " by '" + operation.name +
                           "' is outside every live block");
      valid = false;
      continue;
    }
    if (block->device != pinned_host && block->device != device && !may_cross_devices(operation.name)) {
      report("device", "'" + std::string(operation.name) + "' on device " + std::to_string(device) +
                           " touches memory of device " + std::to_string(block->device));
    }
    check_order(access, actor_, clock_, operation.name);
  }
  return valid;
}

std::shared_ptr<StreamThread> find_stream(cudaStream_t handle) {
  const std::lock_guard lock(streams().mutex);
  // Default streams of threads are not known here: that handle is none.
  if (handle == nullptr || handle == cudaStreamLegacy) {
    std::shared_ptr<StreamThread>& stream = streams().defaults[current];
    if (stream == nullptr)
      stream = std::make_shared<StreamThread>(current, cudaStreamDefault, StreamThread::Role::legacy_default);
    return stream;
  }
  const auto found = streams().by_handle.find(handle);
  return found == streams().by_handle.end() ? nullptr : found->second;
}

cudaStream_t make_stream(unsigned flags) {
  auto stream = std::make_shared<StreamThread>(current, flags, StreamThread::Role::of_program);
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  const std::lock_guard lock(streams().mutex);
  streams().by_handle[handle] = std::move(stream);
  return handle;
}

bool destroy_stream(cudaStream_t handle) {
  std::shared_ptr<StreamThread> stream;
  {
    const std::lock_guard lock(streams().mutex);
    const auto found = streams().by_handle.find(handle);
    if (found == streams().by_handle.end()) return false;
    stream = std::move(found->second);
    streams().by_handle.erase(found);
  }
  let_end(std::move(stream));
  return true;
}

void let_end(std::shared_ptr<StreamThread> stream) {
  // Threads are joined after the lock is gone.
  std::vector<std::shared_ptr<StreamThread>> ended;
  const std::lock_guard lock(streams().mutex);
  auto& ending = streams().ending;
  ending.push_back(std::move(stream));
  const auto still_busy = std::partition(ending.begin(), ending.end(), [](const auto& one) { return one->is_idle(); });
  ended.assign(std::make_move_iterator(ending.begin()), std::make_move_iterator(still_busy));
  ending.erase(ending.begin(), still_busy);
}

std::vector<std::shared_ptr<StreamThread>> streams_of(int device) {
  const std::lock_guard lock(streams().mutex);
  std::vector<std::shared_ptr<StreamThread>> found;
  for (const auto& [handle, stream] : streams().by_handle) {
    if (stream->device == device) found.push_back(stream);
  }
  const auto usual = streams().defaults.find(device);
  if (usual != streams().defaults.end()) found.push_back(usual->second);
  for (const auto& stream : streams().ending) {
    if (stream->device == device) found.push_back(stream);
  }
  return found;
}

int device_of(cudaStream_t handle) {
  const auto stream = find_stream(handle);
  return stream == nullptr ? -1 : stream->device;
}

cudaError_t enqueue(cudaStream_t handle, const char* name, std::vector<Access> accesses, Work work) {
  const auto stream = find_stream(handle);
  if (stream == nullptr) {
    report("api", std::string(name) + ": the stream does not exist");
    return cudaErrorInvalidResourceHandle;
  }
  {
    const std::lock_guard lock(capture_mutex());
    if (stream->role == StreamThread::Role::legacy_default && disturbs_capture(stream->device)) {
      report("api", std::string(name) + " on the default stream while a stream that waits for it is captured");
      return cudaErrorStreamCaptureImplicit;
    }
    if (stream->capture != nullptr) return add_to_capture(*stream, name, std::move(accesses), std::move(work));
  }
  if (const cudaError_t error = device_error(stream->device)) return error;
  stream->push({Operation::Kind::work, name, std::move(accesses), std::move(work), nullptr, {}});
  return cudaSuccess;
}

}  // namespace virtual_gpu
