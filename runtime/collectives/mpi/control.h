#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/collectives/layout.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// What processes tell each other beside the operations: that one has failed and why, that it lives, that it leaves.
/// Signs of life go round a ring: every process watches the one before it.
class ControlChannel {
 public:
  ControlChannel(const Layout& layout, const CollectiveOptions& options);

  /// Reads what has come and gives a sign of life when it is time. Throws when another process failed (its own
  /// sentence) or fell silent.
  void poll();
  /// Whether a process has taken leave.
  bool left(int process) const { return left_[static_cast<std::size_t>(process)]; }
  /// Tells all others, unless they were the ones that told.
  void tell_failure(const std::string& sentence) noexcept;
  void say_goodbye();
  bool everyone_left() const;

 private:
  using Clock = std::chrono::steady_clock;

  void read();
  void watch(Clock::time_point now);
  void send_to_others(char kind, const std::string& words);

  const Layout layout_;
  const std::chrono::duration<double> silence_;
  std::vector<bool> left_;
  bool heard_failure_ = false, heard_of_previous_ = false;
  Clock::time_point last_poll_, last_sign_, last_heard_;
};

}  // namespace ort_train::runtime
