#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/collectives/layout.h"
#include "runtime/collectives/operation.h"
#include "runtime/collectives/options.h"
#include "runtime/collectives/process_exchange.h"

namespace ort_train::runtime {

/// Where the communication threads of one process's replicas meet. `local` counts the replicas of this process from 0.
/// Number 0 leads: it alone talks to the other processes. One mutex guards everything; only arrays are touched
/// outside it.
class LocalGroup {
 public:
  using Clock = std::chrono::steady_clock;

  LocalGroup(const Layout& layout, const CollectiveOptions& options);

  const Layout& layout() const { return layout_; }
  const CollectiveOptions& options() const { return options_; }
  int size() const { return layout_.replicas_per_process; }
  /// Null when there is one process.
  ProcessExchange* exchange() { return exchange_.get(); }
  void connect(std::unique_ptr<ProcessExchange> exchange) { exchange_ = std::move(exchange); }

  /// Ends all waiting with this sentence, unless there is an earlier one.
  void fail(const std::string& sentence) noexcept;
  bool failed() const { return failed_; }
  void throw_if_failed();
  /// The sentence; empty before any failure.
  std::string failure();

  /// Waits until every local replica has come to its next operation. Throws when they differ, or when one is missing
  /// for too long. `prepare` runs once, before anyone goes on.
  void arrive(int local, const Operation& operation, const std::function<void()>& prepare);
  /// Waits until every local replica has come here, in the middle or at the end of an operation.
  void meet();
  /// What the replica arrived with; valid between `arrive` and the last `meet` of the operation.
  const Operation& operation(int local) const { return seats_[static_cast<std::size_t>(local)]->operation; }

  /// Memory of the group, used for one operation after the other; `prepare` makes it large enough.
  std::vector<std::byte>& scratch() { return scratch_; }

  /// The communication thread of `local` touches no array any more and came to its end; `in_order` when its replica
  /// had no more to do.
  void stop(int local, bool in_order);
  /// With the mutex held: whether all threads did so.
  bool quiet() const { return running_ == 0; }

  std::mutex& mutex() { return mutex_; }
  /// Told when the replica's thread gets work, and when its operations are done.
  std::condition_variable& work(int local) { return seats_[static_cast<std::size_t>(local)]->work; }
  std::condition_variable& done(int local) { return seats_[static_cast<std::size_t>(local)]->done; }

 private:
  struct Seat {
    Operation operation;
    bool arrived = false, left = false;
    std::condition_variable work, done;
  };

  std::string name_of_replica(int local) const;
  std::string missing() const;
  void check_same_calls() const;
  void check_nobody_left() const;
  void release();

  const Layout layout_;
  const CollectiveOptions options_;
  std::unique_ptr<ProcessExchange> exchange_;

  std::mutex mutex_;
  std::condition_variable met_;
  std::vector<std::unique_ptr<Seat>> seats_;
  int waiting_ = 0;
  std::uint64_t round_ = 0;  ///< how often all of them have met
  int running_;
  std::atomic<bool> failed_ = false;
  std::string failure_;
  std::vector<std::byte> scratch_;
};

}  // namespace ort_train::runtime
