#include "runtime/data/loader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/shard.h"

namespace ort_train::data {

const Tensor& Batch::at(const std::string& name) const {
  for (const Array& array : arrays) {
    if (array.name == name) return array.values;
  }
  fail("a batch has no array '", name, "'");
}

Loader::Loader(std::shared_ptr<const SampleReader> reader, const LoaderOptions& options)
    : reader_(std::move(reader)), options_(options) {
  if (options.batch_size < 1) fail_usage("the batch size must be at least 1, not ", options.batch_size);
  if (options.workers < 0) fail_usage("the number of loader threads must not be negative");
  if (options.prefetch < 1) fail_usage("the number of batches prepared ahead must be at least 1");
  if (options.replica < 0 || options.replica >= options.replicas) {
    fail_usage("there is no replica ", options.replica, " among ", options.replicas);
  }
  plan_ = {reader_->size(), options.batch_size, options.shuffle, options.drop_last, options.seed};
  if (plan_.steps_per_epoch() == 0) {
    fail("there are only ", reader_->size(), " samples, which is less than one batch of ", options.batch_size,
         ", and partial batches are dropped");
  }
  // One more than are prepared ahead, for the batch that the caller holds.
  slots_.resize(options.workers == 0 ? 1 : static_cast<std::size_t>(options.prefetch) + 1);
  for (Slot& slot : slots_) {
    for (const SampleReader::Array& array : reader_->arrays()) slot.batch.arrays.push_back({array.name, {}});
  }
  for (int i = 0; i < options.workers; ++i) threads_.emplace_back([this] { work(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    cancelled_ = true;
  }
  work_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::start(std::uint32_t epoch, std::int64_t step) {
  if (step < 0 || step > plan_.steps_per_epoch()) {
    fail("an epoch has ", plan_.steps_per_epoch(), " steps; it cannot be started at step ", step);
  }
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  end_ = 0;  // nobody begins another batch
  batch_ready_.wait(lock, [&] { return busy_ == 0; });
  cancelled_ = false;
  if (!started_ || epoch != epoch_) order_ = plan_.order(epoch);
  epoch_ = epoch;
  started_ = true;
  for (Slot& slot : slots_) slot.ready = false;
  next_to_prepare_ = next_to_deliver_ = oldest_in_use_ = step;
  end_ = plan_.steps_per_epoch();
  lock.unlock();
  work_changed_.notify_all();
}

const Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  if (!started_) fail("a loader gives batches only after it was started");
  oldest_in_use_ = next_to_deliver_;
  if (next_to_deliver_ >= end_) return nullptr;
  Slot& slot = slot_of(next_to_deliver_);
  if (threads_.empty()) {
    prepare(next_to_deliver_, slot, own_scratch_);
  } else {
    work_changed_.notify_one();
    batch_ready_.wait(lock, [&] { return slot.ready; });
  }
  if (slot.error) std::rethrow_exception(slot.error);
  slot.ready = false;
  ++next_to_deliver_;
  return &slot.batch;
}

void Loader::work() {
  Scratch scratch;
  std::unique_lock lock(mutex_);
  while (true) {
    work_changed_.wait(lock, [&] { return stopped_ || work_waits(); });
    if (stopped_) return;
    const std::int64_t step = next_to_prepare_++;
    Slot& slot = slot_of(step);
    ++busy_;
    lock.unlock();
    prepare(step, slot, scratch);
    lock.lock();
    --busy_;
    slot.ready = true;
    batch_ready_.notify_all();
  }
}

void Loader::prepare(std::int64_t step, Slot& slot, Scratch& scratch) const {
  slot.error = nullptr;
  try {
    fill(slot.batch, step, scratch);
  } catch (...) {
    slot.error = std::current_exception();
  }
}

void Loader::fill(Batch& batch, std::int64_t step, Scratch& scratch) const {
  batch.epoch = epoch_;
  batch.step = step;
  batch.global_size = plan_.size_of_batch(step);
  const auto [first, rows] = shard_of(batch.global_size, options_.replicas, options_.replica);
  const auto begin = order_.begin() + step * plan_.batch_size + first;
  batch.indices.assign(begin, begin + rows);

  const std::vector<SampleReader::Array>& arrays = reader_->arrays();
  std::vector<std::byte*> destinations(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Tensor& values = batch.arrays[i].values;
    if (!values.defined() || values.dims()[0] != rows) {
      Dims dims = arrays[i].dims;
      dims.insert(dims.begin(), rows);
      values = Tensor(arrays[i].dtype, dims);
    }
    destinations[i] = values.raw();
  }
  for (const std::int64_t index : batch.indices) {
    if (cancelled_) return;
    reader_->read(index, epoch_, destinations, scratch);
    for (std::size_t i = 0; i < arrays.size(); ++i) destinations[i] += arrays[i].bytes;
  }
}

}  // namespace ort_train::data
