#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace virtual_gpu {

/// Where the ranks of a communicator meet, be they in one process or in several: a file in the folder for temporary
/// files, named by the communicator's id, and one more a rank for its elements. All are gone from the folder as soon as
/// every rank has opened them.
class Board {
 public:
  static constexpr int most_ranks = 64;

  /// What every rank says of the operation it comes with.
  struct Call {
    int kind, type, operation, root;
    std::size_t count;

    bool operator==(const Call&) const = default;
  };

  /// Registers a rank; the others may not be there yet. Null when `ranks` is not what the others said.
  static std::shared_ptr<Board> open(std::uint64_t id, int ranks, int rank);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  /// Waits for all others. False after `seconds`.
  bool join(double seconds);
  std::string ranks_that_did_not_join() const;

  /// Lays down what this rank brings, once nobody needs what it brought before. Waits as long as `wait_on` is true.
  bool bring(const Call& call, const void* elements, std::size_t bytes, const std::function<bool()>& wait_on);
  /// Waits until all ranks have brought theirs.
  bool all_have_brought(const std::function<bool()>& wait_on);
  /// The ranks that keep the others waiting, for reports.
  std::string missing_ranks() const;
  Call call_of(int rank) const;
  /// What every rank brought, from rank 0 on.
  std::vector<std::vector<std::byte>> brought() const;
  /// This rank needs none of it any more.
  void leave();

  /// An error that all ranks shall see, such as the death of one. 0: none.
  void fail(int error);
  int failure() const;
  /// Whether the process of another rank has ended without a word.
  bool somebody_is_gone() const;

 private:
  struct Slot;
  struct Shared;

  Board(std::uint64_t id, int ranks, int rank);
  std::string path(const std::string& suffix) const;
  void open_files();
  void remove_files() const;

  const std::uint64_t id_;
  const int ranks_, rank_;
  Shared* shared_ = nullptr;
  std::vector<int> files_;
  std::uint64_t round_ = 0;
};

}  // namespace virtual_gpu
