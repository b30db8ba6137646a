#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/collectives/collective.h"
#include "runtime/collectives/layout.h"
#include "runtime/collectives/mpi/calls.h"
#include "runtime/collectives/mpi/control.h"
#include "runtime/collectives/options.h"

namespace ort_train::runtime {

/// The messages of one operation, and the waiting for them: it counts what is sent, and ends with an Error when a
/// process has failed, has left or does not come.
class Transfers {
 public:
  /// `interrupt` is called while it waits, and throws when this process has failed.
  Transfers(const Layout& layout, const CollectiveOptions& options, std::function<void()> interrupt);
  ~Transfers() { requests_.clear(); }
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// All processes but this one, from the first to the last.
  const std::vector<int>& others() const { return others_; }
  ControlChannel& control() { return control_; }
  const Collective::Statistics& sent() const { return sent_; }

  /// A new operation: `doing` names it in messages. Numbers begin at 0 again.
  void begin(const std::string& doing);
  std::size_t send(const void* memory, std::size_t bytes, int process, int tag);
  std::size_t receive(void* memory, std::size_t bytes, int process, int tag);
  /// Waits for all of them, and for those that `on_completed`, told the number of each, starts meanwhile.
  void finish(const std::function<void(std::size_t)>& on_completed);

  /// Forgets the messages that are still under way.
  void give_up() noexcept { requests_.clear(); }

  /// "process 1 (replicas 2 to 3)"
  std::string name_of_process(int process) const;

 private:
  void check_left() const;
  [[noreturn]] void fail_missing() const;

  const Layout layout_;
  const CollectiveOptions options_;
  const std::function<void()> interrupt_;
  std::vector<int> others_;
  ControlChannel control_;
  Requests requests_;
  Collective::Statistics sent_;
  std::string doing_;
};

}  // namespace ort_train::runtime
