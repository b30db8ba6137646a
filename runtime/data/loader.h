#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/tensor.h"
#include "runtime/data/batch_plan.h"
#include "runtime/data/sample_reader.h"

namespace ort_train::data {

/// Samples stacked along a new first axis, ready for one step.
struct Batch {
  struct Array {
    std::string name;
    Tensor values;  ///< [rows, ...]
  };

  std::uint32_t epoch = 0;
  std::int64_t step = 0;              ///< within the epoch
  std::int64_t global_size = 0;       ///< samples in the whole batch, of which these may be a part
  std::vector<std::int64_t> indices;  ///< of the samples in the data set, one a row
  std::vector<Array> arrays;          ///< the inputs, then the labels, in the order of `SampleReader::arrays()`

  std::int64_t rows() const { return static_cast<std::int64_t>(indices.size()); }

  /// Throws when there is no array of that name.
  const Tensor& at(const std::string& name) const;
};

struct LoaderOptions {
  std::int64_t batch_size = 32;  ///< of the global batch
  bool shuffle = false;
  bool drop_last = false;
  std::uint64_t seed = 0;

  int workers = 1;   ///< threads that prepare batches; 0 prepares each one in `next()`
  int prefetch = 4;  ///< how many batches may be ready before they are asked for

  /// The part of every global batch that this loader gives: shard_of(size of the batch, replicas, replica), which is
  /// empty where the last batch has fewer samples than there are replicas.
  int replica = 0, replicas = 1;
};

/// Prepares batches on threads of its own, ahead of the training step, and gives them in order. What a batch holds
/// depends on the seed, the epoch and the step, never on the number of threads or on when it was asked for. Batches are
/// made in a ring of buffers, so that nothing is allocated from one batch to the next. One thread may use a loader.
class Loader {
 public:
  Loader(std::shared_ptr<const SampleReader> reader, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  const SampleReader& reader() const { return *reader_; }
  std::int64_t steps_per_epoch() const { return plan_.steps_per_epoch(); }

  /// Begins, or jumps, at a step of an epoch; the threads set to work at once. To resume, start where the interrupted
  /// run stopped. A good time to start the next epoch is before validating.
  void start(std::uint32_t epoch, std::int64_t step = 0);

  /// The next batch, valid until the next call; null after the last one of the epoch. Throws what went wrong while the
  /// batch was prepared, naming the sample; after an error, `start` again.
  const Batch* next();

 private:
  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };

  Slot& slot_of(std::int64_t step) { return slots_[static_cast<std::size_t>(step) % slots_.size()]; }
  bool work_waits() const { return next_to_prepare_ < end_ && next_to_prepare_ < oldest_in_use_ + capacity(); }
  std::int64_t capacity() const { return static_cast<std::int64_t>(slots_.size()); }
  void work();
  void prepare(std::int64_t step, Slot& slot, Scratch& scratch) const;
  void fill(Batch& batch, std::int64_t step, Scratch& scratch) const;

  std::shared_ptr<const SampleReader> reader_;
  LoaderOptions options_;
  BatchPlan plan_;
  std::vector<Slot> slots_;
  Scratch own_scratch_;  ///< for a loader without threads

  // Written by `start` while no thread is busy.
  std::uint32_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::int64_t end_ = 0;

  std::mutex mutex_;
  std::condition_variable work_changed_, batch_ready_;
  std::atomic<bool> cancelled_ = false;  ///< what is being prepared is no longer wanted
  bool started_ = false, stopped_ = false;
  int busy_ = 0;
  std::int64_t next_to_prepare_ = 0, next_to_deliver_ = 0;
  std::int64_t oldest_in_use_ = 0;  ///< the batch that the caller holds, or else the next one
  std::vector<std::thread> threads_;
};

}  // namespace ort_train::data
