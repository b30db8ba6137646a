#include "runtime/collectives/local_group.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace ort_train::runtime {

LocalGroup::LocalGroup(const Layout& layout, const CollectiveOptions& options)
    : layout_(layout), options_(options), running_(layout.replicas_per_process) {
  for (int local = 0; local < size(); ++local) seats_.push_back(std::make_unique<Seat>());
}

std::string LocalGroup::name_of_replica(int local) const {
  const int rank = layout_.first_replica() + local;
  return layout_.processes == 1 ? text("replica ", rank) : text("replica ", rank, " (process ", layout_.process, ")");
}

void LocalGroup::fail(const std::string& sentence) noexcept {
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  failure_ = sentence;
  failed_ = true;
  met_.notify_all();
  for (const auto& seat : seats_) {
    seat->work.notify_all();
    seat->done.notify_all();
  }
}

void LocalGroup::throw_if_failed() {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  throw Error(failure_);
}

std::string LocalGroup::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void LocalGroup::release() {
  waiting_ = 0;
  ++round_;
  for (const auto& seat : seats_) seat->arrived = false;
  met_.notify_all();
}

void LocalGroup::check_same_calls() const {
  for (int local = 1; local < size(); ++local) {
    if (same_call(operation(0), operation(local))) continue;
    ort_train::fail(name_of_replica(0), " called ", describe(operation(0)), ", but ", name_of_replica(local),
                    " called ", describe(operation(local)),
                    "; every replica must make the same calls in the same order");
  }
}

void LocalGroup::check_nobody_left() const {
  for (int local = 0; local < size(); ++local) {
    const Seat& seat = *seats_[static_cast<std::size_t>(local)];
    if (seat.left) ort_train::fail(name_of_replica(local), " has left while others go on");
  }
}

std::string LocalGroup::missing() const {
  std::string names;
  for (int local = 0; local < size(); ++local) {
    if (seats_[static_cast<std::size_t>(local)]->arrived) continue;
    names += (names.empty() ? "" : ", ") + name_of_replica(local);
  }
  return names;
}

void LocalGroup::arrive(int local, const Operation& operation, const std::function<void()>& prepare) {
  using namespace std::chrono_literals;
  const auto deadline = Clock::now() + std::chrono::duration<double>(options_.timeout_seconds);
  std::unique_lock lock(mutex_);
  if (failed_) throw Error(failure_);
  Seat& seat = *seats_[static_cast<std::size_t>(local)];
  seat.operation = operation;
  seat.arrived = true;
  if (++waiting_ == size()) {
    check_same_calls();
    prepare();
    release();
    return;
  }
  const bool leads = local == 0 && exchange_;
  for (const auto round = round_; round_ == round;) {
    if (failed_) throw Error(failure_);
    check_nobody_left();
    const auto now = Clock::now();
    if (now >= deadline) {
      ort_train::fail("waited ", options_.timeout_seconds, " s in ", describe(operation), " for ", missing(),
                      ", which did not come; it hangs, or it is slower than the time limit allows");
    }
    // Long limits would overflow the clock, so that nobody waits for more than a minute at a time.
    const auto longest = leads ? std::chrono::duration<double>(100ms) : std::chrono::duration<double>(60s);
    met_.wait_for(lock, std::min(longest, std::chrono::duration<double>(deadline - now)));
    if (!leads || round_ != round) continue;
    lock.unlock();
    exchange_->poll();
    lock.lock();
  }
}

void LocalGroup::meet() {
  std::unique_lock lock(mutex_);
  if (failed_) throw Error(failure_);
  if (++waiting_ == size()) {
    release();
    return;
  }
  const auto round = round_;
  met_.wait(lock, [&] { return round_ != round || failed_; });
  if (round_ == round) throw Error(failure_);
}

void LocalGroup::stop(int local, bool in_order) {
  const std::lock_guard lock(mutex_);
  --running_;
  seats_[static_cast<std::size_t>(local)]->left = in_order;
  met_.notify_all();
  for (const auto& seat : seats_) seat->done.notify_all();
}

}  // namespace ort_train::runtime
