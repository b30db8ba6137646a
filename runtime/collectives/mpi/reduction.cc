#include "runtime/collectives/mpi/reduction.h"

#include "runtime/collectives/mpi/tags.h"
#include "runtime/collectives/scratch.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/wire.h"

namespace ort_train::runtime {

Reduction::Reduction(Transfers& transfers, const Arrays& arrays, int process)
    : transfers_(transfers),
      arrays_(arrays),
      process_(static_cast<std::size_t>(process)),
      partial_size_(size_of(arrays.partial_type)),
      size_(size_of(arrays.type)),
      next_result_(arrays.chunks.size()) {
  for (const Shard& chunk : arrays.chunks) {
    pieces_.push_back(pieces_of(chunk, partial_size_));
    sent_.emplace_back(pieces_.back().size());
  }
  missing_.assign(pieces_[process_].size(), transfers.others().size());
}

void Reduction::run() {
  receive_parts();
  send_parts();
  transfers_.finish([this](std::size_t number) { on_completed(number); });
}

void Reduction::note(std::size_t number, Message message) {
  if (messages_.size() <= number) messages_.resize(number + 1, {Message::other, 0, 0});
  messages_[number] = message;
}

std::byte* Reduction::received(std::size_t process, const Shard& piece) const {
  const Shard& own = arrays_.chunks[process_];
  const std::size_t place = process - (process > process_ ? 1 : 0);
  const auto skipped = static_cast<std::size_t>(piece.first - own.first);
  return arrays_.scratch.data() + (place * static_cast<std::size_t>(own.rows) + skipped) * partial_size_;
}

void Reduction::receive_parts() {
  grow(arrays_.scratch,
       transfers_.others().size() * static_cast<std::size_t>(arrays_.chunks[process_].rows) * partial_size_);
  for (std::size_t i = 0; i < pieces_[process_].size(); ++i) {
    const Shard& piece = pieces_[process_][i];
    for (const int other : transfers_.others()) {
      const auto from = static_cast<std::size_t>(other);
      const std::size_t bytes = static_cast<std::size_t>(piece.rows) * partial_size_;
      note(transfers_.receive(received(from, piece), bytes, other, data_tag), {Message::received_part, from, i});
    }
  }
}

void Reduction::send_parts() {
  for (const int other : transfers_.others()) {
    const auto to = static_cast<std::size_t>(other);
    for (std::size_t i = 0; i < pieces_[to].size(); ++i) {
      const Shard& piece = pieces_[to][i];
      const auto* memory =
          static_cast<const std::byte*>(arrays_.partial) + static_cast<std::size_t>(piece.first) * partial_size_;
      const std::size_t bytes = static_cast<std::size_t>(piece.rows) * partial_size_;
      note(transfers_.send(memory, bytes, other, data_tag), {Message::sent_part, to, i});
    }
  }
}

void Reduction::on_completed(std::size_t number) {
  const Message message = number < messages_.size() ? messages_[number] : Message{Message::other, 0, 0};
  if (message.kind == Message::received_part) {
    --missing_[message.piece];
    add_ready_pieces();
  } else if (message.kind == Message::sent_part && arrays_.result) {
    sent_[message.process][message.piece] = true;
    receive_results(message.process);
  }
}

// In order, because the receivers expect the pieces of one process in order.
void Reduction::add_ready_pieces() {
  const std::vector<Shard>& own = pieces_[process_];
  for (; next_sum_ < own.size() && missing_[next_sum_] == 0; ++next_sum_) {
    add(own[next_sum_]);
    if (arrays_.result) send_result(own[next_sum_]);
  }
}

void Reduction::add(const Shard& piece) {
  std::vector<const void*> operands;
  for (std::size_t process = 0; process < arrays_.chunks.size(); ++process) {
    const auto* own =
        static_cast<const std::byte*>(arrays_.partial) + static_cast<std::size_t>(piece.first) * partial_size_;
    operands.push_back(process == process_ ? own : received(process, piece));
  }
  const auto skipped = static_cast<std::size_t>(piece.first - arrays_.chunks[process_].first);
  void* const result[] = {static_cast<std::byte*>(arrays_.own_result) + skipped * size_};
  add_in_order(arrays_.partial_type, operands, arrays_.type, result, static_cast<std::size_t>(piece.rows));
}

void Reduction::send_result(const Shard& piece) {
  const auto* memory = static_cast<const std::byte*>(arrays_.result) + static_cast<std::size_t>(piece.first) * size_;
  for (const int other : transfers_.others()) {
    transfers_.send(memory, static_cast<std::size_t>(piece.rows) * size_, other, result_tag);
  }
}

// The sum may come to where the part was sent from, so not before that is sent.
void Reduction::receive_results(std::size_t process) {
  for (std::size_t& next = next_result_[process]; next < pieces_[process].size() && sent_[process][next]; ++next) {
    const Shard& piece = pieces_[process][next];
    void* memory = static_cast<std::byte*>(arrays_.result) + static_cast<std::size_t>(piece.first) * size_;
    transfers_.receive(memory, static_cast<std::size_t>(piece.rows) * size_, static_cast<int>(process), result_tag);
  }
}

}  // namespace ort_train::runtime
