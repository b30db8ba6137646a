#include "runtime/data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "runtime/data/shuffle.h"

namespace ort_train::data {

std::int64_t BatchPlan::steps_per_epoch() const {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

std::int64_t BatchPlan::size_of_batch(std::int64_t step) const {
  return std::clamp<std::int64_t>(samples - step * batch_size, 0, batch_size);
}

std::vector<std::int64_t> BatchPlan::order(std::uint32_t epoch) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  if (shuffle) data::shuffle(order, RandomStream(seed, RandomPurpose::shuffle, epoch));
  return order;
}

}  // namespace ort_train::data
