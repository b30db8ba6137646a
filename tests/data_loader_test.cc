#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/shard.h"
#include "runtime/data/array_dataset.h"
#include "runtime/data/loader.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::data;

namespace {

/// Sample i is the image of 2 x 3 pixels that are all i, with the label i. Reading sample `broken` throws.
class Numbers final : public Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t broken = -1, int milliseconds = 0)
      : size_(size), broken_(broken), milliseconds_(milliseconds) {}

  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  std::string describe(std::int64_t index) const override { return text("number ", index); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  void read(std::int64_t index, std::size_t field, std::byte* destination) const override {
    if (field == 1) {
      *reinterpret_cast<std::int32_t*>(destination) = static_cast<std::int32_t>(index);
      return;
    }
    if (index == broken_) fail("the picture is torn");
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    std::fill_n(destination, 6, static_cast<std::byte>(index));
  }

 private:
  std::int64_t size_, broken_;
  int milliseconds_;
  std::vector<Field> fields_{{"image", DataType::uint8, {1, 2, 3}, FieldRole::input, ImageLayout::channels_first},
                             {"label", DataType::int32, {}, FieldRole::label, ImageLayout::none}};
  std::vector<std::string> class_names_;
};

std::shared_ptr<const SampleReader> reader_of(DatasetPointer dataset, bool augmented = false) {
  InputSlot input{"x", DataType::float32, {1, 2, 3}, {}};
  input.options.augmentation.width_shift = augmented ? 0.5f : 0.0f;
  input.options.augmentation.fill = FillMode::constant;
  const LabelSlot label{"y", DataType::int64, {}, 0, std::nullopt, ""};
  return std::make_shared<SampleReader>(std::move(dataset), std::vector{input}, std::vector{label}, StatisticsByInput{},
                                        SampleReader::Mode::training, 3);
}

LoaderOptions options_of(std::int64_t batch_size, int workers) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.workers = workers;
  options.shuffle = true;
  options.seed = 5;
  return options;
}

/// A copy that outlives the loader's buffers.
Batch copy_of(const Batch& batch) {
  Batch copy = batch;
  for (Batch::Array& array : copy.arrays) array.values = array.values.clone();
  return copy;
}

std::vector<Batch> epoch_of(Loader& loader, std::uint32_t epoch, std::int64_t step = 0) {
  std::vector<Batch> batches;
  loader.start(epoch, step);
  while (const Batch* batch = loader.next()) batches.push_back(copy_of(*batch));
  return batches;
}

bool equal(const Batch& a, const Batch& b) {
  return a.epoch == b.epoch && a.step == b.step && a.indices == b.indices && a.global_size == b.global_size &&
         a.at("x").identical(b.at("x")) && a.at("y").identical(b.at("y"));
}

}  // namespace

TEST_CASE("a plan counts its steps and shuffles anew every epoch") {
  const BatchPlan plan{10, 4, true, false, 7};
  CHECK(plan.steps_per_epoch() == 3);
  CHECK(plan.size_of_batch(1) == 4);
  CHECK(plan.size_of_batch(2) == 2);
  CHECK(BatchPlan{10, 4, true, true, 7}.steps_per_epoch() == 2);
  CHECK(BatchPlan{8, 4, true, false, 7}.steps_per_epoch() == 2);
  std::vector<std::int64_t> sorted = plan.order(0);
  CHECK(plan.order(0) == sorted);
  CHECK(plan.order(1) != sorted);
  CHECK(BatchPlan{10, 4, true, false, 8}.order(0) != sorted);
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(BatchPlan{10, 4, false, false, 7}.order(3) == sorted);
}

TEST_CASE("an epoch holds every sample once, with its label, and the last batch is what is left") {
  for (const int workers : {0, 1, 3}) {
    Loader loader(reader_of(std::make_shared<Numbers>(103)), options_of(10, workers));
    CHECK(loader.steps_per_epoch() == 11);
    const std::vector<Batch> batches = epoch_of(loader, 0);
    REQUIRE(batches.size() == 11);
    std::set<std::int64_t> seen;
    for (std::size_t step = 0; step < batches.size(); ++step) {
      const Batch& batch = batches[step];
      CHECK(batch.step == static_cast<std::int64_t>(step));
      CHECK(batch.rows() == (step == 10 ? 3 : 10));
      CHECK(batch.at("x").dims() == Dims{batch.rows(), 1, 2, 3});
      CHECK(batch.at("y").dtype() == DataType::int64);
      for (std::int64_t row = 0; row < batch.rows(); ++row) {
        const std::int64_t index = batch.indices[static_cast<std::size_t>(row)];
        seen.insert(index);
        CHECK(batch.at("y").data<std::int64_t>()[row] == index);
        for (int i = 0; i < 6; ++i) CHECK(batch.at("x").data<float>()[row * 6 + i] == static_cast<float>(index));
      }
    }
    CHECK(seen.size() == 103);
    CHECK_ERROR(batches[0].at("z"), "no array 'z'");
  }
}

TEST_CASE("batches do not depend on the number of threads or of batches prepared ahead") {
  const auto dataset = std::make_shared<Numbers>(50);
  Loader inline_loader(reader_of(dataset, true), options_of(8, 0));
  const std::vector<Batch> expected = epoch_of(inline_loader, 4);
  for (const int workers : {1, 2, 5}) {
    for (const int prefetch : {1, 3, 20}) {
      LoaderOptions options = options_of(8, workers);
      options.prefetch = prefetch;
      Loader loader(reader_of(dataset, true), options);
      const std::vector<Batch> found = epoch_of(loader, 4);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(equal(found[i], expected[i]));
    }
  }
}

TEST_CASE("a loader resumes at any step exactly") {
  const auto dataset = std::make_shared<Numbers>(50);
  Loader loader(reader_of(dataset, true), options_of(8, 2));
  epoch_of(loader, 0);
  const std::vector<Batch> whole = epoch_of(loader, 1);
  for (std::int64_t step = 0; step <= loader.steps_per_epoch(); ++step) {
    Loader fresh(reader_of(dataset, true), options_of(8, 2));
    const std::vector<Batch> rest = epoch_of(fresh, 1, step);
    REQUIRE(rest.size() == whole.size() - static_cast<std::size_t>(step));
    for (std::size_t i = 0; i < rest.size(); ++i) CHECK(equal(rest[i], whole[static_cast<std::size_t>(step) + i]));
  }
  CHECK_ERROR(loader.start(0, 99), "an epoch has 7 steps; it cannot be started at step 99");
}

TEST_CASE("a batch can be cut into parts, and the parts make up the whole") {
  const auto dataset = std::make_shared<Numbers>(21);
  Loader whole_loader(reader_of(dataset, true), options_of(8, 1));
  const std::vector<Batch> whole = epoch_of(whole_loader, 2);
  std::vector<std::vector<std::int64_t>> joined(whole.size());
  for (const int replica : {0, 1, 2, 3, 4, 5, 6}) {
    LoaderOptions options = options_of(8, 1);
    options.replica = replica;
    options.replicas = 7;
    Loader loader(reader_of(dataset, true), options);
    const std::vector<Batch> parts = epoch_of(loader, 2);
    REQUIRE(parts.size() == whole.size());
    for (std::size_t step = 0; step < parts.size(); ++step) {
      CHECK(parts[step].global_size == whole[step].rows());
      CHECK(parts[step].at("x").dims()[0] == parts[step].rows());
      joined[step].insert(joined[step].end(), parts[step].indices.begin(), parts[step].indices.end());
      const std::int64_t row = shard_of(whole[step].rows(), 7, replica).first;
      if (parts[step].rows() > 0) {
        CHECK(parts[step].at("x").data<float>()[1] == whole[step].at("x").data<float>()[row * 6 + 1]);
      }
    }
    // 8 samples give 2, 1, 1, ...; of the last 5 two replicas have none.
    CHECK(parts.front().rows() == (replica == 0 ? 2 : 1));
    CHECK(parts.back().rows() == (replica < 5 ? 1 : 0));
  }
  for (std::size_t step = 0; step < whole.size(); ++step) CHECK(joined[step] == whole[step].indices);
}

TEST_CASE("what goes wrong in a thread reaches the caller, in order, with the sample named") {
  for (const int workers : {0, 1, 3}) {
    LoaderOptions options = options_of(4, workers);
    options.shuffle = false;
    Loader loader(reader_of(std::make_shared<Numbers>(40, 13)), options);
    loader.start(0);
    for (int step = 0; step < 3; ++step) CHECK(loader.next()->step == step);
    CHECK_ERROR(loader.next(), "sample 13 (number 13): the picture is torn");
    CHECK_ERROR(loader.next(), "the picture is torn");
    loader.start(0, 4);
    CHECK(loader.next()->step == 4);
  }
}

TEST_CASE("a loader can be left or restarted at any moment") {
  const auto dataset = std::make_shared<Numbers>(1000, -1, 1);
  for (int taken = 0; taken < 6; ++taken) {
    Loader loader(reader_of(dataset), options_of(50, 3));
    loader.start(0);
    for (int i = 0; i < taken; ++i) CHECK(loader.next() != nullptr);
    loader.start(7, 5);
    const Batch* batch = loader.next();
    REQUIRE(batch != nullptr);
    CHECK(batch->epoch == 7);
    CHECK(batch->step == 5);
    CHECK(batch->indices[0] == BatchPlan{1000, 50, true, false, 5}.order(7)[250]);
    const auto leaving = std::chrono::steady_clock::now();
    loader.start(8);
    // A batch takes at least 50 ms; one that is not wanted any more is given up.
    CHECK(std::chrono::steady_clock::now() - leaving < std::chrono::seconds(5));
  }
  Loader never_started(reader_of(dataset), options_of(50, 2));
  CHECK_ERROR(never_started.next(), "only after it was started");
}

TEST_CASE("batches are prepared in the buffers of earlier ones") {
  LoaderOptions options = options_of(10, 2);
  options.prefetch = 3;
  Loader loader(reader_of(std::make_shared<Numbers>(100)), options);
  std::set<const std::byte*> buffers;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    loader.start(epoch);
    while (const Batch* batch = loader.next()) buffers.insert(batch->at("x").raw());
  }
  CHECK(buffers.size() == 4);
}

TEST_CASE("the batch that the caller holds stays as it is while others are prepared") {
  LoaderOptions options = options_of(5, 3);
  options.prefetch = 1;
  Loader loader(reader_of(std::make_shared<Numbers>(100)), options);
  loader.start(0);
  while (const Batch* batch = loader.next()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::int64_t row = 0; row < batch->rows(); ++row) {
      CHECK(batch->at("y").data<std::int64_t>()[row] == batch->indices[static_cast<std::size_t>(row)]);
    }
  }
}

TEST_CASE("impossible options give a sentence") {
  const auto reader = reader_of(std::make_shared<Numbers>(5));
  CHECK_ERROR(Loader(reader, options_of(0, 1)), "the batch size must be at least 1, not 0");
  CHECK_ERROR(Loader(reader, options_of(1, -1)), "must not be negative");
  LoaderOptions options = options_of(8, 1);
  options.drop_last = true;
  CHECK_ERROR(Loader(reader, options), "only 5 samples, which is less than one batch of 8");
  options = options_of(4, 1);
  options.prefetch = 0;
  CHECK_ERROR(Loader(reader, options), "at least 1");
}
