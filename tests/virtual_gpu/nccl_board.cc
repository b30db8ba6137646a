#include "tests/virtual_gpu/nccl_board.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace virtual_gpu {

/// Lies in a file that starts as zeros. Rounds are counted from 1.
struct Board::Slot {
  std::atomic<int> process;
  std::atomic<bool> has_opened;
  /// The last round that this rank has brought something for, and the last that it has left.
  std::atomic<std::uint64_t> brought, left;
  Call call;
  std::size_t bytes;
};

struct Board::Shared {
  std::atomic<int> ranks;
  std::atomic<int> failure;
  Slot slots[most_ranks];
};

namespace {

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("virtual NCCL: " + what + ": " + std::strerror(errno));
}

// Others may be in another process, so there is nothing to be woken by.
bool poll(const std::function<bool()>& is_ready, const std::function<bool()>& wait_on) {
  while (!is_ready()) {
    if (!wait_on()) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

std::function<bool()> for_seconds(double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  return [deadline] { return std::chrono::steady_clock::now() < deadline; };
}

int open_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must(file >= 0, "open " + path);
  return file;
}

}  // namespace

Board::Board(std::uint64_t id, int ranks, int rank) : id_(id), ranks_(ranks), rank_(rank) {
  const int file = open_file(path("board"));
  must(ftruncate(file, sizeof(Shared)) == 0, "make room for " + path("board"));
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  must(memory != MAP_FAILED, "map " + path("board"));
  close(file);
  shared_ = static_cast<Shared*>(memory);
  close(open_file(path(std::to_string(rank))));
}

Board::~Board() {
  for (const int file : files_) close(file);
  munmap(shared_, sizeof(Shared));
}

std::shared_ptr<Board> Board::open(std::uint64_t id, int ranks, int rank) {
  std::shared_ptr<Board> board(new Board(id, ranks, rank));
  int unknown = 0;
  if (!board->shared_->ranks.compare_exchange_strong(unknown, ranks) && unknown != ranks) return nullptr;
  int nobody = 0;
  const bool is_free = board->shared_->slots[rank].process.compare_exchange_strong(nobody, getpid());
  return is_free ? board : nullptr;
}

std::string Board::path(const std::string& suffix) const {
  const std::string name = "virtual-nccl-" + std::to_string(id_) + "-" + suffix;
  return (std::filesystem::temp_directory_path() / name).string();
}

bool Board::join(double seconds) {
  const auto everybody_has = [this](const std::function<bool(const Slot&)>& has) {
    return std::all_of(shared_->slots, shared_->slots + ranks_, has);
  };
  const auto all_have_come = [&] { return everybody_has([](const Slot& slot) { return slot.process != 0; }); };
  const bool joined = poll(all_have_come, for_seconds(seconds));
  if (joined) open_files();
  // The last one clears up.
  if (!joined || everybody_has([](const Slot& slot) { return slot.has_opened.load(); })) remove_files();
  return joined;
}

void Board::open_files() {
  for (int rank = 0; rank < ranks_; ++rank) files_.push_back(open_file(path(std::to_string(rank))));
  shared_->slots[rank_].has_opened = true;
}

void Board::remove_files() const {
  for (int rank = 0; rank < ranks_; ++rank) unlink(path(std::to_string(rank)).c_str());
  unlink(path("board").c_str());
}

std::string Board::ranks_that_did_not_join() const {
  std::string text;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (shared_->slots[rank].process == 0) text += " " + std::to_string(rank);
  }
  return text;
}

bool Board::bring(const Call& call, const void* elements, std::size_t bytes, const std::function<bool()>& wait_on) {
  const auto everybody_left = [this] {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (shared_->slots[rank].left < round_) return false;
    }
    return true;
  };
  if (!poll(everybody_left, wait_on)) return false;
  const auto* source = static_cast<const std::byte*>(elements);
  const int file = files_[static_cast<std::size_t>(rank_)];
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = pwrite(file, source + done, bytes - done, static_cast<off_t>(done));
    must(count > 0, "write elements");
    done += static_cast<std::size_t>(count);
  }
  Slot& slot = shared_->slots[rank_];
  slot.call = call;
  slot.bytes = bytes;
  slot.brought = ++round_;
  return true;
}

bool Board::all_have_brought(const std::function<bool()>& wait_on) {
  return poll([this] { return missing_ranks().empty(); }, wait_on);
}

std::string Board::missing_ranks() const {
  std::string text;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (shared_->slots[rank].brought < round_) text += " " + std::to_string(rank);
  }
  return text;
}

Board::Call Board::call_of(int rank) const { return shared_->slots[rank].call; }

std::vector<std::vector<std::byte>> Board::brought() const {
  std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(ranks_));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::vector<std::byte>& elements = all[rank];
    elements.resize(shared_->slots[rank].bytes);
    for (std::size_t done = 0; done < elements.size();) {
      const ssize_t count =
          pread(files_[rank], elements.data() + done, elements.size() - done, static_cast<off_t>(done));
      must(count > 0, "read the elements of rank " + std::to_string(rank));
      done += static_cast<std::size_t>(count);
    }
  }
  return all;
}

void Board::leave() { shared_->slots[rank_].left = round_; }

void Board::fail(int error) {
  int none = 0;
  shared_->failure.compare_exchange_strong(none, error);
}

int Board::failure() const { return shared_->failure; }

bool Board::somebody_is_gone() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (kill(shared_->slots[rank].process, 0) != 0 && errno == ESRCH) return true;
  }
  return false;
}

}  // namespace virtual_gpu
