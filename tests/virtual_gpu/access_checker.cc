#include "tests/virtual_gpu/access_checker.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "tests/virtual_gpu/memory.h"

namespace virtual_gpu {

namespace {

constexpr int nobody = -1;

struct Visit {
  int actor = nobody;
  std::uint64_t time = 0;
  const char* operation = "";
};

/// A range of memory with one history.
struct Segment {
  std::uintptr_t end = 0;
  Visit write;
  std::vector<Visit> reads;
};

struct Ledger {
  std::mutex mutex;
  std::map<std::uintptr_t, Segment> segments;
  std::vector<std::string> actors = {"the host"};
};

Ledger& ledger() {
  static auto* const only = new Ledger;
  return *only;
}

// Makes a segment begin at `address` where one goes across it.
void split(std::map<std::uintptr_t, Segment>& segments, std::uintptr_t address) {
  auto next = segments.upper_bound(address);
  if (next == segments.begin()) return;
  const auto found = std::prev(next);
  if (found->first == address || found->second.end <= address) return;
  Segment rest = found->second;
  found->second.end = address;
  segments.emplace(address, std::move(rest));
}

class Check {
 public:
  Check(const Access& access, int actor, const Clock& clock, const char* operation)
      : access_(access), actor_(actor), clock_(clock), operation_(operation) {}

  void visit(std::uintptr_t begin, Segment& segment) const {
    const Visit now{actor_, clock_[static_cast<std::size_t>(actor_)], operation_};
    if (segment.write.actor != nobody && !is_ordered(segment.write)) tell(begin, segment, segment.write, "write");
    if (access_.writes) {
      for (const Visit& read : segment.reads) {
        if (!is_ordered(read)) tell(begin, segment, read, "read");
      }
      segment.reads.clear();
      segment.write = now;
      return;
    }
    const auto ordered = [this](const Visit& read) { return is_ordered(read); };
    segment.reads.erase(std::remove_if(segment.reads.begin(), segment.reads.end(), ordered), segment.reads.end());
    segment.reads.push_back(now);
  }

 private:
  bool is_ordered(const Visit& earlier) const {
    if (earlier.actor == actor_) return true;
    const auto index = static_cast<std::size_t>(earlier.actor);
    return index < clock_.size() && earlier.time <= clock_[index];
  }

  void tell(std::uintptr_t begin, const Segment& segment, const Visit& earlier, const char* kind) const {
    const std::vector<std::string>& actors = ledger().actors;
    report("race", std::string(access_.writes ? "write" : "read") + " of " + std::to_string(segment.end - begin) +
                       " bytes at " +
                       // NOLINTNEXTLINE(performance-no-int-to-ptr): segments are kept by address
                       place_of(reinterpret_cast<const void*>(begin)) + " by '" + operation_ + "' on " +
                       actors[static_cast<std::size_t>(actor_)] + " is not ordered after the " + kind + " by '" +
                       earlier.operation + "' on " + actors[static_cast<std::size_t>(earlier.actor)]);
  }

  const Access& access_;
  int actor_;
  const Clock& clock_;
  const char* operation_;
};

}  // namespace

int new_actor(const std::string& name) {
  const std::lock_guard lock(ledger().mutex);
  ledger().actors.push_back(name);
  return static_cast<int>(ledger().actors.size()) - 1;
}

void check_order(const Access& access, int actor, const Clock& clock, const char* operation) {
  if (access.bytes == 0) return;
  const std::lock_guard lock(ledger().mutex);
  auto& segments = ledger().segments;
  const auto begin = reinterpret_cast<std::uintptr_t>(access.memory);
  const std::uintptr_t end = begin + access.bytes;
  split(segments, begin);
  split(segments, end);
  const Check check(access, actor, clock, operation);
  auto segment = segments.lower_bound(begin);
  for (std::uintptr_t position = begin; position < end; position = segment->second.end, ++segment) {
    if (segment == segments.end() || segment->first > position) {
      const std::uintptr_t free_until = segment == segments.end() ? end : std::min(end, segment->first);
      segment = segments.emplace_hint(segment, position, Segment{free_until, {}, {}});
    }
    check.visit(segment->first, segment->second);
  }
}

void forget_accesses(const void* memory, std::size_t bytes) {
  const std::lock_guard lock(ledger().mutex);
  auto& segments = ledger().segments;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  segments.erase(segments.lower_bound(begin), segments.lower_bound(begin + bytes));
}

}  // namespace virtual_gpu
