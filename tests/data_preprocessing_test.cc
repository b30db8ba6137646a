#include <cmath>
#include <cstring>

#include "runtime/data/array_dataset.h"
#include "runtime/data/convert.h"
#include "runtime/data/sample_reader.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::data;

namespace {

std::shared_ptr<ArrayDataset> dataset_of(const Tensor& x, const Tensor& y, ImageLayout layout = ImageLayout::none) {
  return std::make_shared<ArrayDataset>(std::vector<ArrayDataset::Array>{{"x", FieldRole::input, layout, x},
                                                                         {"y", FieldRole::label, ImageLayout::none, y}},
                                        std::vector<ArrayDataset::Source>{{"made.npz", x.dims()[0]}}, "sample");
}

/// `count` images whose numbers run through 0 ... 250.
Tensor images(Dims dims, DataType dtype = DataType::uint8) {
  Tensor tensor(DataType::uint8, std::move(dims));
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37 % 251);
  return tensor.cast(dtype);
}

Tensor labels(std::int64_t count) { return Tensor(DataType::int64, {count}); }

InputSlot slot_of(Dims dims, DataType dtype = DataType::float32) { return {"input", dtype, std::move(dims), {}}; }

/// The first array of one sample.
Tensor prepared(const SampleReader& reader, std::int64_t index, std::uint32_t epoch = 0) {
  std::vector<Tensor> tensors;
  std::vector<std::byte*> destinations;
  for (const auto& array : reader.arrays()) {
    tensors.emplace_back(array.dtype, array.dims);
    destinations.push_back(tensors.back().raw());
  }
  Scratch scratch;
  reader.read(index, epoch, destinations, scratch);
  return tensors[0];
}

Tensor prepared(const DatasetPointer& dataset, const InputSlot& slot, const StatisticsByInput& statistics = {}) {
  return prepared(SampleReader(dataset, {slot}, {}, statistics, SampleReader::Mode::evaluation), 1);
}

constexpr ImageLayout first = ImageLayout::channels_first, last = ImageLayout::channels_last;

}  // namespace

TEST_CASE("images come in the layout that the model takes") {
  const Tensor x = images({2, 4, 5, 3});
  const std::uint8_t* source = x.data<std::uint8_t>() + 60;
  const DatasetPointer known = dataset_of(x, labels(2), last), unknown = dataset_of(x, labels(2));
  for (const DatasetPointer& dataset : {known, unknown}) {
    const Tensor same = prepared(dataset, slot_of({4, 5, 3}));
    const Tensor turned = prepared(dataset, slot_of({3, 4, 5}));
    REQUIRE(same.dims() == Dims{4, 5, 3});
    REQUIRE(turned.dims() == Dims{3, 4, 5});
    for (int pixel = 0; pixel < 20; ++pixel) {
      for (int channel = 0; channel < 3; ++channel) {
        CHECK(same.data<float>()[pixel * 3 + channel] == source[pixel * 3 + channel]);
        CHECK(turned.data<float>()[channel * 20 + pixel] == source[pixel * 3 + channel]);
      }
    }
  }
  const Tensor back = prepared(dataset_of(images({2, 3, 4, 5}), labels(2), first), slot_of({4, 5, 3}));
  CHECK(back.data<float>()[1] == images({2, 3, 4, 5}).data<std::uint8_t>()[60 + 20]);
}

TEST_CASE("free extents are taken from the data") {
  const DatasetPointer dataset = dataset_of(images({2, 4, 5, 3}), labels(2), last);
  CHECK(prepared(dataset, slot_of({3, -1, -1})).dims() == Dims{3, 4, 5});
  CHECK(prepared(dataset, slot_of({-1, -1, 3})).dims() == Dims{4, 5, 3});
  CHECK(prepared(dataset_of(Tensor(DataType::float32, {2, 7}), labels(2)), slot_of({-1})).dims() == Dims{7});
}

TEST_CASE("grey images and flattened images fit without a channel axis") {
  const Tensor x = images({2, 4, 5});
  for (const Dims& dims : {Dims{1, 4, 5}, Dims{4, 5, 1}, Dims{4, 5}, Dims{20}}) {
    const Tensor sample = prepared(dataset_of(x, labels(2)), slot_of(dims));
    CHECK(sample.dims() == dims);
    for (int i = 0; i < 20; ++i) CHECK(sample.data<float>()[i] == x.data<std::uint8_t>()[20 + i]);
  }
  CHECK(prepared(dataset_of(images({2, 1, 4, 5}), labels(2), first), slot_of({20})).dims() == Dims{20});
  CHECK(prepared(dataset_of(images({2, 20}), labels(2)), slot_of({1, 4, 5})).dims() == Dims{1, 4, 5});
}

TEST_CASE("data that do not fit the model give a sentence with both shapes") {
  const DatasetPointer colour = dataset_of(images({2, 3, 32, 32}), labels(2), first);
  CHECK_ERROR(prepared(colour, slot_of({3, 28, 28})),
              "are 32 x 32 pixels, but the model's input 'input' takes 28 x 28");
  CHECK_ERROR(prepared(colour, slot_of({1, 32, 32})),
              "have 3 channel(s), but the model's input 'input' of shape [1,32,32] takes 1");
  CHECK_ERROR(prepared(colour, slot_of({3000})), "have 3072 numbers");
  CHECK_ERROR(prepared(colour, slot_of({3, -1, 64})), "takes 64 x 32");
  const DatasetPointer rows = dataset_of(Tensor(DataType::float32, {2, 10}), labels(2));
  CHECK_ERROR(prepared(rows, slot_of({12})),
              "have the shape [10] per sample, but the model's input 'input' takes [12]");
  CHECK_ERROR(prepared(rows, slot_of({10}, DataType::int64)), "are float32, but the model's input 'input' takes int64");
  InputSlot resized = slot_of({12});
  resized.options.resize = true;
  CHECK_ERROR(prepared(rows, resized), "neither resized nor augmented");
  InputSlot missing = slot_of({10});
  missing.options.field = "z";
  CHECK_ERROR(prepared(rows, missing), "is to come from 'z', but the data set has only 'x', 'y'");
  CHECK_ERROR(SampleReader(rows, {slot_of({10}), slot_of({10})}, {}, {}, SampleReader::Mode::evaluation),
              "has nothing for");
}

TEST_CASE("images of another size are resized when that is asked for") {
  Tensor x(DataType::uint8, {2, 3, 8, 8});
  for (std::int64_t i = 0; i < x.size(); ++i) x.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i / 64 * 10);
  InputSlot slot = slot_of({3, 5, 12});
  slot.options.resize = true;
  const Tensor sample = prepared(dataset_of(x, labels(2), first), slot);
  REQUIRE(sample.dims() == Dims{3, 5, 12});
  for (int i = 0; i < 180; ++i) CHECK(sample.data<float>()[i] == doctest::Approx(30 + i / 60 * 10));
}

TEST_CASE("pixels are scaled, then the mean is subtracted, then divided by the deviation") {
  const Tensor x = images({2, 2, 2, 3});
  InputSlot slot = slot_of({3, 2, 2});
  slot.options.scale = 1.0f / 255.0f;
  slot.options.given_mean = {0.5f, 0.4f, 0.3f};
  slot.options.given_deviation = {0.2f, 0.25f, 0.5f};
  for (const DataType dtype : {DataType::float32, DataType::float64, DataType::float16}) {
    slot.dtype = dtype;
    const Tensor sample = prepared(dataset_of(x, labels(2), last), slot).cast(DataType::float32);
    const float tolerance = dtype == DataType::float16 ? 4e-3f : 1e-5f;
    for (int channel = 0; channel < 3; ++channel) {
      for (int pixel = 0; pixel < 4; ++pixel) {
        const float value = x.data<std::uint8_t>()[12 + pixel * 3 + channel] / 255.0f;
        const auto c = static_cast<std::size_t>(channel);
        const float expected = (value - slot.options.given_mean[c]) / slot.options.given_deviation[c];
        CHECK(std::fabs(sample.data<float>()[channel * 4 + pixel] - expected) < tolerance);
      }
    }
  }
  slot.options.given_mean = {0.5f, 0.4f};
  CHECK_ERROR(prepared(dataset_of(x, labels(2), last), slot), "has 2 numbers, but the data have 3 channel(s)");
  slot.options.given_mean = {};
  slot.options.given_deviation = {0.0f};
  CHECK_ERROR(prepared(dataset_of(x, labels(2), last), slot), "must be positive");
  slot.options.given_deviation = {};
  slot.dtype = DataType::uint8;
  CHECK_ERROR(prepared(dataset_of(x, labels(2), last), slot),
              "can be neither resized, augmented, scaled nor rearranged");
}

TEST_CASE("the mean image and the channel statistics are those of the training set, for any number of threads") {
  const std::int64_t count = 77;
  const Tensor x = images({count, 2, 3, 4});
  InputSlot slot = slot_of({4, 2, 3});
  slot.options.scale = 0.5f;
  slot.options.deviation = true;
  slot.options.mean = InputOptions::Mean::per_pixel;
  slot.options.augmentation.horizontal_flip = true;
  const DatasetPointer dataset = dataset_of(x, labels(count), last);
  const StatisticsByInput statistics = compute_statistics(*dataset, {slot}, 1);
  const Statistics& numbers = statistics.at("input");
  REQUIRE(numbers.mean.dims() == Dims{4, 2, 3});
  REQUIRE(numbers.deviation.dims() == Dims{4});
  for (int channel = 0; channel < 4; ++channel) {
    double channel_sum = 0, channel_squares = 0;
    for (int pixel = 0; pixel < 6; ++pixel) {
      double sum = 0;
      for (std::int64_t sample = 0; sample < count; ++sample) {
        const double value = 0.5 * x.data<std::uint8_t>()[(sample * 6 + pixel) * 4 + channel];
        sum += value;
        channel_squares += value * value;
      }
      channel_sum += sum;
      CHECK(numbers.mean.data<float>()[channel * 6 + pixel] == doctest::Approx(sum / count));
    }
    const double mean = channel_sum / (6 * count);
    CHECK(numbers.deviation.data<float>()[channel] ==
          doctest::Approx(std::sqrt(channel_squares / (6 * count) - mean * mean)));
  }
  for (const int threads : {2, 5}) {
    const StatisticsByInput again = compute_statistics(*dataset, {slot}, threads);
    CHECK(again.at("input").mean.identical(numbers.mean));
    CHECK(again.at("input").deviation.identical(numbers.deviation));
  }

  slot.options.mean = InputOptions::Mean::per_channel;
  const StatisticsByInput by_channel = compute_statistics(*dataset, {slot}, 2);
  REQUIRE(by_channel.at("input").mean.dims() == Dims{4});
  double total = 0;
  std::vector<double> squares(4, 0.0);
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const SampleReader reader(dataset, {slot}, {}, by_channel, SampleReader::Mode::evaluation);
    const Tensor prepared_sample = prepared(reader, sample);
    for (int i = 0; i < 24; ++i) {
      total += prepared_sample.data<float>()[i];
      squares[static_cast<std::size_t>(i / 6)] += std::pow(prepared_sample.data<float>()[i], 2);
    }
  }
  CHECK(std::fabs(total / (24 * count)) < 1e-4);
  for (const double sum : squares) CHECK(sum / (6 * count) == doctest::Approx(1.0).epsilon(1e-4));
}

TEST_CASE("statistics go through tensors, and must fit the input") {
  StatisticsByInput statistics;
  statistics["a/b"].mean = Tensor::of<float>({2}, {1, 2});
  statistics["a/b"].deviation = Tensor::of<float>({2}, {3, 4});
  statistics["c"].mean = Tensor::of<float>({1}, {5});
  const auto tensors = to_tensors(statistics);
  CHECK(tensors.size() == 3);
  const StatisticsByInput back = statistics_from_tensors(tensors);
  CHECK(back.at("a/b").deviation.identical(statistics["a/b"].deviation));
  CHECK(back.at("c").mean.identical(statistics["c"].mean));
  CHECK_FALSE(back.at("c").deviation.defined());
  CHECK_ERROR(statistics_from_tensors({{"weight", Tensor()}}), "'weight' is not the name of a statistic");

  StatisticsByInput wrong;
  wrong["input"].mean = Tensor(DataType::float32, {7});
  CHECK_ERROR(prepared(dataset_of(images({2, 3, 2, 2}), labels(2), first), slot_of({3, 2, 2}), wrong),
              "has the shape [7]");
}

TEST_CASE("augmentation depends on seed, epoch and sample, and is made before the mean is subtracted") {
  const DatasetPointer dataset = dataset_of(images({9, 3, 6, 6}), labels(9), first);
  InputSlot slot = slot_of({3, 6, 6});
  slot.options.augmentation.width_shift = slot.options.augmentation.height_shift = 0.3f;
  slot.options.augmentation.horizontal_flip = true;
  using Mode = SampleReader::Mode;
  const auto read = [&](std::uint64_t seed, std::uint32_t epoch, std::int64_t index, Mode mode = Mode::training) {
    return prepared(SampleReader(dataset, {slot}, {}, {}, mode, seed), index, epoch);
  };
  CHECK(read(1, 2, 3).identical(read(1, 2, 3)));
  CHECK_FALSE(read(1, 2, 3).identical(read(1, 3, 3)));
  CHECK_FALSE(read(1, 2, 3).identical(read(2, 2, 3)));
  CHECK(read(1, 2, 3, Mode::evaluation).identical(read(9, 7, 3, Mode::evaluation)));
  const SampleReader plain(dataset, {slot_of({3, 6, 6})}, {}, {}, Mode::training);
  CHECK(read(1, 2, 3, Mode::evaluation).identical(prepared(plain, 3)));

  StatisticsByInput statistics;
  statistics["input"].mean = Tensor(DataType::float32, {3, 6, 6});
  for (int i = 0; i < 108; ++i) statistics["input"].mean.data<float>()[i] = static_cast<float>(i);
  const Tensor raw = read(1, 2, 3);
  const Tensor centred = prepared(SampleReader(dataset, {slot}, {}, statistics, Mode::training, 1), 3, 2);
  for (int i = 0; i < 108; ++i) {
    CHECK(centred.data<float>()[i] == doctest::Approx(raw.data<float>()[i] - static_cast<float>(i)).epsilon(1e-4));
  }
}

TEST_CASE("a crop needs an image of at least the model's size") {
  InputSlot slot = slot_of({3, 4, 4});
  slot.options.augmentation.random_crop = true;
  const Tensor x = images({2, 3, 6, 6});
  const Tensor middle = prepared(dataset_of(x, labels(2), first), slot);
  for (int y = 0; y < 4; ++y) {
    for (int x_position = 0; x_position < 4; ++x_position) {
      CHECK(middle.data<float>()[y * 4 + x_position] == x.data<std::uint8_t>()[108 + (y + 1) * 6 + x_position + 1]);
    }
  }
  CHECK_ERROR(prepared(dataset_of(images({2, 3, 3, 6}), labels(2), first), slot), "are 6 x 3 pixels");
}

TEST_CASE("labels fit their loss or give a sentence") {
  const auto reader = [](const Tensor& y, const LabelSlot& slot) {
    const DatasetPointer dataset = dataset_of(Tensor(DataType::float32, {y.dims()[0], 2}), y);
    return SampleReader(dataset, {slot_of({2})}, {slot}, {}, SampleReader::Mode::evaluation);
  };
  const LabelSlot classes{"label", DataType::int64, {}, 10, std::nullopt, ""};
  CHECK(reader(Tensor::of<std::uint8_t>({3}, {0, 9, 4}), classes).arrays()[1].dtype == DataType::int64);
  CHECK(reader(Tensor::of<std::int32_t>({3, 1}, {0, 9, 4}), classes).arrays()[1].dims == Dims{});
  CHECK_ERROR(reader(Tensor::of<float>({3}, {0, 1, 2}), classes),
              "the labels 'y' are float32, but the loss of 'label' takes class numbers 0 to 9");
  CHECK_ERROR(reader(Tensor(DataType::float32, {3, 10}), classes), "not one column a class");
  CHECK_ERROR(reader(Tensor::of<std::int64_t>({3}, {0, 10, 2}), classes),
              "the label 'y' of sample 1 of made.npz is 10, but the model has 10 classes, 0 to 9");
  CHECK_ERROR(reader(Tensor::of<std::int64_t>({3}, {0, -1, 2}), classes), "is -1");
  CHECK_ERROR(reader(Tensor(DataType::int64, {3, 2}), classes),
              "have the shape [2] per sample, but the loss of 'label' takes []");
  LabelSlot ignoring = classes;
  ignoring.ignore_index = -100;
  CHECK(reader(Tensor::of<std::int64_t>({2}, {-100, 2}), ignoring).size() == 2);
  const LabelSlot number{"label", DataType::float32, {1}, 0, std::nullopt, ""};
  CHECK(reader(Tensor::of<std::int64_t>({3}, {0, 500, -2}), number).arrays()[1].dims == Dims{1});
  const LabelSlot map{"label", DataType::int64, {-1, -1}, 4, std::nullopt, ""};
  CHECK(reader(Tensor(DataType::uint8, {2, 5, 6}), map).arrays()[1].dims == Dims{5, 6});
  const LabelSlot own_input{"label", DataType::float32, {2}, 0, std::nullopt, "x"};
  CHECK(reader(labels(2), own_input).arrays()[1].dims == Dims{2});
}

TEST_CASE("conversions keep the number or give a sentence") {
  const auto convert = [](const Tensor& source, DataType to) {
    Tensor target(to, source.dims());
    convert_elements(source.dtype(), source.raw(), to, target.raw(), source.size());
    return target;
  };
  const Tensor small = Tensor::of<std::uint8_t>({3}, {0, 1, 255});
  for (const DataType to :
       {DataType::int16, DataType::int64, DataType::float16, DataType::float32, DataType::float64}) {
    CHECK(convert(small, to).to_int64s() == std::vector<std::int64_t>{0, 1, 255});
  }
  CHECK_ERROR(convert(small, DataType::int8), "the number 255 does not fit into int8");
  CHECK_ERROR(convert(Tensor::of<std::int64_t>({1}, {-1}), DataType::uint8), "the number -1 does not fit into uint8");
  CHECK_ERROR(convert(Tensor::of<float>({1}, {1}), DataType::int32), "float32 cannot stand for int32");
  CHECK(convert(Tensor::of<double>({2}, {0.5, -2}), DataType::float16).to_doubles() == std::vector<double>{0.5, -2});
  Tensor truths(DataType::boolean, {2});
  truths.data<bool>()[1] = true;
  CHECK(convert(truths, DataType::float32).to_doubles() == std::vector<double>{0, 1});
}
