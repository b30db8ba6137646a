#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/data_type.h"
#include "base/shard.h"
#include "runtime/collectives/mpi/transfers.h"

namespace ort_train::runtime {

/// A sum over the processes of many bytes. Every process owns a chunk of the elements: it gets that chunk of everyone
/// piece by piece, adds each piece in the order of the processes, and sends the sum to everyone when all are to have
/// it, while the next pieces travel.
class Reduction {
 public:
  struct Arrays {
    DataType partial_type, type;
    const void* partial;              ///< of this process, all chunks
    void* own_result;                 ///< the sum of this process's chunk
    void* result = nullptr;           ///< all of the sum, when everyone is to have it; else null
    std::vector<Shard> chunks;        ///< of each process, in elements
    std::vector<std::byte>& scratch;  ///< for the chunks of the others
  };

  Reduction(Transfers& transfers, const Arrays& arrays, int process);

  void run();

 private:
  struct Message {
    enum { received_part, sent_part, other } kind;
    std::size_t process, piece;
  };

  void receive_parts();
  void send_parts();
  void on_completed(std::size_t number);
  void add_ready_pieces();
  void add(const Shard& piece);
  void send_result(const Shard& piece);
  void receive_results(std::size_t process);
  std::byte* received(std::size_t process, const Shard& piece) const;
  void note(std::size_t number, Message message);

  Transfers& transfers_;
  const Arrays& arrays_;
  const std::size_t process_, partial_size_, size_;
  std::vector<std::vector<Shard>> pieces_;  ///< of each process's chunk
  std::vector<std::size_t> missing_;        ///< for each own piece, how many have not come
  std::vector<std::vector<char>> sent_;     ///< for each process, the pieces whose memory is free again
  std::vector<std::size_t> next_result_;    ///< for each process, the next piece of the sum to ask for
  std::size_t next_sum_ = 0;                ///< the next own piece to add
  std::vector<Message> messages_;
};

}  // namespace ort_train::runtime
