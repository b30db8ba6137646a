#include "runtime/collectives/mpi/control.h"

#include <mpi.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/error.h"
#include "runtime/collectives/mpi/calls.h"
#include "runtime/collectives/mpi/tags.h"

namespace ort_train::runtime {

namespace {

enum Kind : char { sign_of_life = 'l', failure = 'f', goodbye = 'g' };

/// Short enough that MPI keeps a copy, and sending does not depend on the receiver.
constexpr std::size_t longest_words = 2000;

/// Small messages end at once unless the other side is stuck; then nobody waits longer than a second for it.
void finish(std::vector<MPI_Request>& requests) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 1s;
  for (int done = 0; !done && std::chrono::steady_clock::now() < deadline;) {
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    if (!done) std::this_thread::sleep_for(1ms);
  }
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

}  // namespace

ControlChannel::ControlChannel(const Layout& layout, const CollectiveOptions& options)
    : layout_(layout),
      silence_(options.silence_seconds),
      left_(static_cast<std::size_t>(layout.processes)),
      last_poll_(Clock::now()),
      last_heard_(last_poll_) {}

void ControlChannel::poll() {
  read();
  watch(Clock::now());
}

void ControlChannel::read() {
  for (;;) {
    int waiting = 0, bytes = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, control_tag, MPI_COMM_WORLD, &waiting, &status), "MPI_Iprobe");
    if (!waiting) return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::string message(static_cast<std::size_t>(bytes), '\0');
    check_mpi(
        MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Recv");
    if (message.empty()) continue;
    if (message[0] == goodbye) left_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
    if (message[0] == sign_of_life) heard_of_previous_ = true, last_heard_ = Clock::now();
    if (message[0] == failure) {
      heard_failure_ = true;
      throw Error(message.substr(1));
    }
  }
}

void ControlChannel::watch(Clock::time_point now) {
  const int previous = (layout_.process + layout_.processes - 1) % layout_.processes;
  const int next = (layout_.process + 1) % layout_.processes;
  // Whoever was stopped itself for a while has heard nothing, and that is nobody's fault.
  if (now - last_poll_ > silence_ / 4) last_heard_ = now;
  last_poll_ = now;
  if (!left(next) && now - last_sign_ > silence_ / 4) {
    last_sign_ = now;
    std::vector<MPI_Request> request(1);
    static constexpr char kind = sign_of_life;
    check_mpi(MPI_Isend(&kind, 1, MPI_BYTE, next, control_tag, MPI_COMM_WORLD, request.data()), "MPI_Isend");
    finish(request);
  }
  if (heard_of_previous_ && !left(previous) && now - last_heard_ > silence_) {
    fail("process ", previous, " was not heard of for ", silence_.count(),
         " s; it was killed, or its machine or the network is down");
  }
}

void ControlChannel::send_to_others(char kind, const std::string& words) {
  const std::string message = kind + words.substr(0, longest_words);
  std::vector<MPI_Request> requests;
  for (int process = 0; process < layout_.processes; ++process) {
    if (process == layout_.process) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, process, control_tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Isend");
    requests.push_back(request);
  }
  finish(requests);
}

void ControlChannel::tell_failure(const std::string& sentence) noexcept {
  if (heard_failure_) return;
  try {
    send_to_others(failure, sentence);
  } catch (const std::exception&) {
    // Who cannot be reached finds out by the silence.
  }
}

void ControlChannel::say_goodbye() {
  send_to_others(goodbye, "");
  left_[static_cast<std::size_t>(layout_.process)] = true;
}

bool ControlChannel::everyone_left() const {
  return std::all_of(left_.begin(), left_.end(), [](bool left) { return left; });
}

}  // namespace ort_train::runtime
