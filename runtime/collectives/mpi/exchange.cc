#include "runtime/collectives/mpi/exchange.h"

#include <mpi.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error.h"
#include "runtime/collectives/mpi/reduction.h"
#include "runtime/collectives/mpi/tags.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/wire.h"

namespace ort_train::runtime {

namespace {

std::size_t index(int process) { return static_cast<std::size_t>(process); }

const std::byte* at(const void* memory, std::size_t bytes) { return static_cast<const std::byte*>(memory) + bytes; }
std::byte* at(void* memory, std::size_t bytes) { return static_cast<std::byte*>(memory) + bytes; }

void copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

MpiExchange::MpiExchange(const Layout& layout, const CollectiveOptions& options, std::function<void()> interrupt)
    : layout_(layout),
      options_(options),
      interrupt_(std::move(interrupt)),
      transfers_(layout, options, interrupt_),
      came_(index(layout.processes)),
      sent_(index(layout.processes)) {}

void MpiExchange::send_greeting(const Operation& operation, int process, const void* payload, std::size_t bytes) {
  const Greeting greeting{sequence_,       operation.count, operation.kind,
                          operation.dtype, operation.root,  layout_.replicas_per_process};
  std::vector<std::byte>& message = sent_[index(process)];
  message.resize(sizeof greeting + bytes);
  copy(&greeting, message.data(), sizeof greeting);
  copy(payload, message.data() + sizeof greeting, bytes);
  transfers_.send(message.data(), message.size(), process, greeting_tag);
}

bool MpiExchange::greet(const Operation& operation, const Payload& payload) {
  const std::size_t bytes = payload_bytes(operation, layout_);
  const bool fits = bytes <= greeting_payload_bytes;
  ++sequence_;
  transfers_.begin(describe(operation));
  std::vector<int> senders;
  for (const int process : transfers_.others()) {
    // The sender may call something else, with the largest payload there is.
    came_[index(process)].assign(sizeof(Greeting) + greeting_payload_bytes, std::byte{0});
    transfers_.receive(came_[index(process)].data(), came_[index(process)].size(), process, greeting_tag);
    senders.push_back(process);
  }
  for (const int process : transfers_.others()) {
    const void* memory = fits ? payload(process) : nullptr;
    send_greeting(operation, process, memory, memory ? bytes : 0);
  }
  transfers_.finish([&](std::size_t number) {
    if (number < senders.size()) check_greeting(operation, senders[number]);
  });
  transfers_.begin(describe(operation));
  return fits;
}

void MpiExchange::check_greeting(const Operation& operation, int process) const {
  Greeting greeting;
  copy(came_[index(process)].data(), &greeting, sizeof greeting);
  if (greeting.replicas_per_process != layout_.replicas_per_process) {
    fail("process ", process, " has ", greeting.replicas_per_process, " replicas, but process ", layout_.process,
         " has ", layout_.replicas_per_process, "; every process must have equally many");
  }
  const Operation other{greeting.kind, greeting.dtype, greeting.count, greeting.root};
  if (same_call(operation, other)) return;
  fail("replica ", layout_.first_replica(), " (process ", layout_.process, ") called ", describe(operation),
       ", but replica ", process * layout_.replicas_per_process, " (process ", process, ") called ", describe(other),
       "; every replica must make the same calls in the same order");
}

const std::byte* MpiExchange::payload_of(int process) const { return came_[index(process)].data() + sizeof(Greeting); }

void MpiExchange::add_payloads(const Operation& operation, const void* own, void* result, std::size_t count) {
  std::vector<const void*> operands(came_.size(), own);
  for (const int process : transfers_.others()) operands[index(process)] = payload_of(process);
  void* const results[] = {result};
  add_in_order(partial_type(operation.dtype, layout_), operands, operation.dtype, results, count);
}

void MpiExchange::all_reduce(const Operation& operation, const void* partial, void* result) {
  if (greet(operation, [&](int) { return partial; })) {
    add_payloads(operation, partial, result, operation.count);
    return;
  }
  std::vector<Shard> chunks(index(layout_.processes));
  for (int process = 0; process < layout_.processes; ++process) {
    chunks[index(process)] = shard_of(static_cast<std::int64_t>(operation.count), layout_.processes, process);
  }
  const auto skipped = static_cast<std::size_t>(chunks[index(layout_.process)].first);
  const Reduction::Arrays arrays{partial_type(operation.dtype, layout_),
                                 operation.dtype,
                                 partial,
                                 at(result, skipped * size_of(operation.dtype)),
                                 result,
                                 chunks,
                                 scratch_};
  Reduction(transfers_, arrays, layout_.process).run();
}

void MpiExchange::reduce_scatter(const Operation& operation, const void* partial, void* result) {
  const DataType type = partial_type(operation.dtype, layout_);
  const std::size_t count = operation.count * index(layout_.replicas_per_process);
  const auto chunk_of = [&](int process) { return at(partial, index(process) * count * size_of(type)); };
  if (greet(operation, [&](int process) -> const void* { return chunk_of(process); })) {
    add_payloads(operation, chunk_of(layout_.process), result, count);
    return;
  }
  std::vector<Shard> chunks(index(layout_.processes));
  const auto rows = static_cast<std::int64_t>(count);
  for (int process = 0; process < layout_.processes; ++process) chunks[index(process)] = {process * rows, rows};
  const Reduction::Arrays arrays{type, operation.dtype, partial, result, nullptr, chunks, scratch_};
  Reduction(transfers_, arrays, layout_.process).run();
}

void MpiExchange::send_to_all(const void* memory, std::size_t bytes) {
  for (const Shard& piece : pieces_of({0, static_cast<std::int64_t>(bytes)}, 1)) {
    for (const int process : transfers_.others()) {
      transfers_.send(at(memory, static_cast<std::size_t>(piece.first)), static_cast<std::size_t>(piece.rows), process,
                      data_tag);
    }
  }
}

void MpiExchange::receive_from(int process, void* memory, std::size_t bytes) {
  for (const Shard& piece : pieces_of({0, static_cast<std::int64_t>(bytes)}, 1)) {
    transfers_.receive(at(memory, static_cast<std::size_t>(piece.first)), static_cast<std::size_t>(piece.rows), process,
                       data_tag);
  }
}

void MpiExchange::broadcast(const Operation& operation, void* memory) {
  const int root = layout_.process_of(operation.root);
  const bool from_here = root == layout_.process;
  const std::size_t bytes = payload_bytes(operation, layout_);
  if (greet(operation, [&](int) { return from_here ? memory : nullptr; })) {
    if (!from_here) copy(payload_of(root), memory, bytes);
    return;
  }
  if (from_here) {
    send_to_all(memory, bytes);
  } else {
    receive_from(root, memory, bytes);
  }
  transfers_.finish([](std::size_t) {});
}

void MpiExchange::all_gather(const Operation& operation, void* memory) {
  const std::size_t bytes = payload_bytes(operation, layout_);
  const auto chunk_of = [&](int process) { return at(memory, index(process) * bytes); };
  if (greet(operation, [&](int) -> const void* { return chunk_of(layout_.process); })) {
    for (const int process : transfers_.others()) copy(payload_of(process), chunk_of(process), bytes);
    return;
  }
  for (const int process : transfers_.others()) receive_from(process, chunk_of(process), bytes);
  send_to_all(chunk_of(layout_.process), bytes);
  transfers_.finish([](std::size_t) {});
}

void MpiExchange::barrier(const Operation& operation) {
  greet(operation, [](int) { return nullptr; });
}

void MpiExchange::tell_failure(const std::string& sentence) noexcept {
  transfers_.control().tell_failure(sentence);
  // The memory of the operation goes back to the replicas: MPI must not know it any more.
  transfers_.give_up();
}

void MpiExchange::close() noexcept {
  using Clock = std::chrono::steady_clock;
  try {
    ControlChannel& control = transfers_.control();
    control.say_goodbye();
    const auto start = Clock::now();
    const std::chrono::duration<double> limit(options_.timeout_seconds);
    for (Backoff backoff; !control.everyone_left() && Clock::now() - start < limit; backoff.pause()) {
      interrupt_();
      control.poll();
    }
  } catch (const std::exception&) {
    // Another process failed after this one had done its part, and says so itself.
  }
}

std::unique_ptr<ProcessExchange> make_process_exchange(const Layout& layout, const CollectiveOptions& options,
                                                       std::function<void()> interrupt) {
  int joined = 0, processes = 1, process = 0;
  MPI_Initialized(&joined);
  if (joined) {
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
  }
  if (processes != layout.processes || process != layout.process) {
    fail_usage("replicas in ", layout.processes, " processes were asked for, of which this would be number ",
               layout.process, ", but MPI knows ", processes, " processes and this one as number ", process,
               "; start the program with mpirun -np ", layout.processes);
  }
  return std::make_unique<MpiExchange>(layout, options, std::move(interrupt));
}

}  // namespace ort_train::runtime
