#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ort_train::data {

/// Calls `task(i)` for every i below `count` on up to `threads` threads. The first exception stops the rest and is
/// thrown again here.
inline void run_in_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t)>& task) {
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, count); ++i) others.emplace_back(work);
  work();
  others.clear();  // joins
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace ort_train::data
