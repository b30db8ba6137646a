#include "runtime/collectives/mpi/transfers.h"

#include <chrono>
#include <utility>

#include "base/error.h"

namespace ort_train::runtime {

Transfers::Transfers(const Layout& layout, const CollectiveOptions& options, std::function<void()> interrupt)
    : layout_(layout), options_(options), interrupt_(std::move(interrupt)), control_(layout, options) {
  for (int process = 0; process < layout.processes; ++process) {
    if (process != layout.process) others_.push_back(process);
  }
}

void Transfers::begin(const std::string& doing) {
  requests_.clear();
  doing_ = doing;
}

std::size_t Transfers::send(const void* memory, std::size_t bytes, int process, int tag) {
  ++sent_.messages;
  sent_.bytes_sent += bytes;
  return requests_.send(memory, bytes, process, tag);
}

std::size_t Transfers::receive(void* memory, std::size_t bytes, int process, int tag) {
  return requests_.receive(memory, bytes, process, tag);
}

void Transfers::finish(const std::function<void(std::size_t)>& on_completed) {
  using Clock = std::chrono::steady_clock;
  // A replica that is missing in another process is named more precisely there, so that process may speak first.
  const std::chrono::duration<double> limit(options_.timeout_seconds + 2);
  auto last_progress = Clock::now();
  Backoff backoff;
  while (!requests_.all_done()) {
    const std::vector<std::size_t> numbers = requests_.completed();
    for (const std::size_t number : numbers) on_completed(number);
    if (!numbers.empty()) {
      last_progress = Clock::now();
      backoff.reset();
      continue;
    }
    // Whoever had left before this look sends nothing after it.
    check_left();
    interrupt_();
    control_.poll();
    if (Clock::now() - last_progress > limit) fail_missing();
    backoff.pause();
  }
}

void Transfers::check_left() const {
  for (const int process : requests_.partners()) {
    if (control_.left(process)) fail(name_of_process(process), " has left while others go on with ", doing_);
  }
}

void Transfers::fail_missing() const {
  std::string names;
  for (const int process : requests_.partners()) names += (names.empty() ? "" : ", ") + name_of_process(process);
  fail("waited ", options_.timeout_seconds, " s in ", doing_, " for ", names,
       ", of which nothing came; it hangs, or it is slower than the time limit allows");
}

std::string Transfers::name_of_process(int process) const {
  const int first = process * layout_.replicas_per_process, last = first + layout_.replicas_per_process - 1;
  if (first == last) return text("replica ", first, " (process ", process, ")");
  return text("process ", process, " (replicas ", first, " to ", last, ")");
}

}  // namespace ort_train::runtime
