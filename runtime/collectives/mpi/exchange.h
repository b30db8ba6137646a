#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/collectives/mpi/transfers.h"
#include "runtime/collectives/process_exchange.h"

namespace ort_train::runtime {

/// Messages straight from process to process. A sum is cut into one chunk a process: its owner gets that chunk of
/// everyone, adds in the order of the processes, and sends the sum back. That moves as few bytes as a ring does, and a
/// message that does not come names the process that is missing.
class MpiExchange final : public ProcessExchange {
 public:
  MpiExchange(const Layout& layout, const CollectiveOptions& options, std::function<void()> interrupt);

  void all_reduce(const Operation& operation, const void* partial, void* result) override;
  void broadcast(const Operation& operation, void* memory) override;
  void reduce_scatter(const Operation& operation, const void* partial, void* result) override;
  void all_gather(const Operation& operation, void* memory) override;
  void barrier(const Operation& operation) override;
  void poll() override { transfers_.control().poll(); }
  void tell_failure(const std::string& sentence) noexcept override;
  void close() noexcept override;
  Collective::Statistics sent() const override {
    Collective::Statistics sent = transfers_.sent();
    sent.received_bytes = scratch_.capacity();
    return sent;
  }

 private:
  /// What travels with the greeting to a process; null: nothing does.
  using Payload = std::function<const void*(int)>;

  /// Exchanges greetings with everyone, `bytes` of payload with each, and checks that all call the same. Returns
  /// whether the payloads travelled; else they are too large and must follow.
  bool greet(const Operation& operation, const Payload& payload);
  void send_greeting(const Operation& operation, int process, const void* payload, std::size_t bytes);
  void check_greeting(const Operation& operation, int process) const;
  /// What came with the greeting of the process.
  const std::byte* payload_of(int process) const;
  /// The sum of own elements and everyone's payload.
  void add_payloads(const Operation& operation, const void* own, void* result, std::size_t count);
  /// Sends `bytes` to all others, in pieces.
  void send_to_all(const void* memory, std::size_t bytes);
  void receive_from(int process, void* memory, std::size_t bytes);

  const Layout layout_;
  const CollectiveOptions options_;
  const std::function<void()> interrupt_;
  Transfers transfers_;
  std::uint64_t sequence_ = 0;
  std::vector<std::vector<std::byte>> came_, sent_;  ///< greetings with their payloads, of each process
  std::vector<std::byte> scratch_;
};

}  // namespace ort_train::runtime
