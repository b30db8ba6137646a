#include "runtime/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "runtime/data/shuffle.h"

namespace ort_train::data {

namespace {

class Subset final : public Dataset {
 public:
  Subset(DatasetPointer source, std::vector<std::int64_t> indices)
      : source_(std::move(source)), indices_(std::move(indices)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  const std::vector<Field>& fields() const override { return source_->fields(); }
  void read(std::int64_t index, std::size_t field, std::byte* destination) const override {
    source_->read(source_index(index), field, destination);
  }
  std::string describe(std::int64_t index) const override { return source_->describe(source_index(index)); }
  const std::vector<std::string>& class_names() const override { return source_->class_names(); }

 private:
  std::int64_t source_index(std::int64_t index) const { return indices_.at(static_cast<std::size_t>(index)); }

  DatasetPointer source_;
  std::vector<std::int64_t> indices_;
};

}  // namespace

DatasetPointer make_subset(DatasetPointer source, std::vector<std::int64_t> indices) {
  return std::make_shared<Subset>(std::move(source), std::move(indices));
}

Splits split_at_random(DatasetPointer source, double fraction, std::uint64_t seed) {
  if (!(fraction >= 0.0 && fraction < 1.0)) {
    fail_usage("the validation fraction must be at least 0 and less than 1, not ", fraction);
  }
  if (fraction == 0.0) return {std::move(source), nullptr};
  const std::int64_t size = source->size();
  if (size < 2) fail("a data set of ", size, " sample(s) cannot be split into a training and a validation part");
  const auto wanted = static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(size)));
  const std::int64_t validation_size = std::clamp<std::int64_t>(wanted, 1, size - 1);

  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, RandomStream(seed, RandomPurpose::split));
  const auto border = order.begin() + validation_size;
  std::sort(order.begin(), border);
  std::sort(border, order.end());
  return {make_subset(source, {border, order.end()}), make_subset(source, {order.begin(), border})};
}

}  // namespace ort_train::data
