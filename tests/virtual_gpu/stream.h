#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/virtual_gpu/core.h"

namespace virtual_gpu {

struct Capture;

/// One record of an event; every cudaEventRecord makes a new one, so that a wait refers to the record it saw.
class Signal {
 public:
  void complete(const Clock& clock);
  /// False after `seconds`.
  bool wait(double seconds);
  bool is_done();
  /// When done.
  const Clock& clock() const { return clock_; }
  double time() const { return time_; }

  /// Whose stream completes it.
  int device = 0;

  /// When it was recorded into a graph: the capture, the number of the record in it, and what it comes after.
  Capture* capture = nullptr;
  int number = -1;
  std::vector<std::size_t> position;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Clock clock_;
  double time_ = 0;
};
using SignalPointer = std::shared_ptr<Signal>;

struct Operation {
  enum class Kind { work, record, wait };

  Kind kind = Kind::work;
  const char* name = "";
  std::vector<Access> accesses;
  Work work;
  SignalPointer signal;
  /// What the host knew when it enqueued this.
  Clock host_clock;
};

/// A queue of operations with a thread that carries them out.
class StreamThread {
 public:
  enum class Role {
    of_program,
    /// The device's default stream.
    legacy_default,
    /// Of a graph being replayed.
    graph_branch,
  };

  StreamThread(int device, unsigned flags, Role role);
  ~StreamThread();

  void push(Operation operation);
  void record(const SignalPointer& signal);
  void wait(const SignalPointer& signal);
  /// The host waits until everything so far is done, and knows it then.
  cudaError_t synchronize();
  bool is_idle();

  const int device;
  const unsigned flags;
  const Role role;

  bool is_blocking() const { return role == Role::of_program && (flags & cudaStreamNonBlocking) == 0; }

  /// While it is captured; guarded by capture_mutex().
  std::shared_ptr<Capture> capture;
  int branch = -1;

 private:
  void append(Operation operation);
  void wait_for_work_of(StreamThread& other);
  void order_with_default_stream();
  void run();
  void carry_out(Operation& operation);
  bool accesses_are_valid(const Operation& operation) const;

  const int actor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool stopped_ = false, busy_ = false;
  /// How many operations were put on it, and up to where each other stream of the device has been waited for. Only
  /// for the default stream and those that block.
  std::uint64_t count_ = 0;
  std::map<int, std::uint64_t> waited_for_;
  Clock clock_;  // of the thread
  std::thread thread_;
};

/// The stream of a handle; the default stream of the current device for null. Null for a handle that is none.
std::shared_ptr<StreamThread> find_stream(cudaStream_t handle);
cudaStream_t make_stream(unsigned flags);
bool destroy_stream(cudaStream_t handle);
/// Nobody puts work on it any more. Does not wait: what is on it goes on, or hangs, by itself.
void let_end(std::shared_ptr<StreamThread> stream);
std::vector<std::shared_ptr<StreamThread>> streams_of(int device);

/// The host waits for an event.
cudaError_t synchronize(Signal& signal);
/// An error that stays with a device, as after an illegal access. 0: none.
cudaError_t device_error(int device);
void fail_device(int device, cudaError_t error);

void set_current_device(int device);

}  // namespace virtual_gpu
