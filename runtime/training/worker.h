#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ort_train::training {

/// A thread that carries out one job after the other; jobs must not throw. One thread gives them.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start(std::function<void()> job);
  /// Returns when the last job is done.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool busy_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace ort_train::training
