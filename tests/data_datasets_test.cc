#include <algorithm>
#include <cstring>
#include <set>

#include "base/npy.h"
#include "runtime/data/cifar.h"
#include "runtime/data/image_decoder.h"
#include "runtime/data/mnist.h"
#include "runtime/data/open_dataset.h"
#include "runtime/data/resize.h"
#include "tests/data_pictures.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::data;
using namespace ort_train::test;

namespace {

std::string bytes_of(const Dataset& dataset, std::int64_t index, std::size_t field) {
  std::string bytes(dataset.fields().at(field).bytes(), '\0');
  dataset.read(index, field, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

int label_byte(const Dataset& dataset, std::int64_t index, std::size_t field = 1) {
  return static_cast<unsigned char>(bytes_of(dataset, index, field)[0]);
}

std::string cifar_record(const std::string& labels, int colour) {
  return labels + std::string(3072, static_cast<char>(colour));
}

/// Batch i holds the records of the labels i and i + 1, in the colours 10 i and 10 i + 1.
void write_cifar10(const std::filesystem::path& folder) {
  for (int batch = 1; batch <= 5; ++batch) {
    write(folder / text("data_batch_", batch, ".bin"),
          cifar_record(std::string(1, static_cast<char>(batch)), 10 * batch) +
              cifar_record(std::string(1, static_cast<char>(batch + 1)), 10 * batch + 1));
  }
  write(folder / "test_batch.bin", cifar_record(std::string(1, '\x09'), 200));
}

std::string idx(const std::vector<int>& dims, const std::string& content, int type = 8) {
  std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(dims.size())};
  for (const int extent : dims) out += {'\0', '\0', static_cast<char>(extent >> 8), static_cast<char>(extent & 0xff)};
  return out + content;
}

std::uint32_t crc32_of(const std::string& content) {
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : content) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

/// A gzip file (RFC 1952) of one stored block, with its length and checksum.
std::string gzipped(const std::string& content) {
  const auto put = [](std::string& out, std::uint32_t value, int width) {
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const auto size = static_cast<std::uint32_t>(content.size());
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\3\1", 11);
  put(out, size, 2);
  put(out, ~size & 0xffffu, 2);
  out += content;
  put(out, crc32_of(content), 4);
  put(out, size, 4);
  return out;
}

/// Three training images of 2 x 3 pixels and one test image; `ending` is "" or ".gz".
void write_mnist(const std::filesystem::path& folder, const std::string& ending) {
  const auto put = [&](const std::string& name, const std::string& content) {
    write(folder / (name + ending), ending.empty() ? content : gzipped(content));
  };
  std::string pixels;
  for (int i = 0; i < 18; ++i) pixels += static_cast<char>(i);
  put("train-images-idx3-ubyte", idx({3, 2, 3}, pixels));
  put("train-labels-idx1-ubyte", idx({3}, "\x07\x02\x01"));
  put("t10k-images-idx3-ubyte", idx({1, 2, 3}, "abcdef"));
  put("t10k-labels-idx1-ubyte", idx({1}, "\x04"));
}

DatasetSpec spec_of(const std::filesystem::path& path, const std::string& kind = "") {
  DatasetSpec spec;
  spec.path = path;
  spec.kind = kind;
  return spec;
}

}  // namespace

TEST_CASE("CIFAR-10 records are taken apart, file after file") {
  const TemporaryFolder folder;
  write_cifar10(folder.path());
  write(folder / "batches.meta.txt", "airplane\nautomobile\n\n");
  const Splits splits = open_dataset(spec_of(folder.path()));
  REQUIRE(splits.training->size() == 10);
  REQUIRE(splits.validation->size() == 1);
  CHECK(splits.training->fields()[0].dims == Dims{3, 32, 32});
  CHECK(splits.training->fields()[0].layout == ImageLayout::channels_first);
  for (int i = 0; i < 10; ++i) {
    CHECK(label_byte(*splits.training, i) == i / 2 + 1 + i % 2);
    CHECK(bytes_of(*splits.training, i, 0) == std::string(3072, static_cast<char>(10 * (i / 2 + 1) + i % 2)));
  }
  CHECK(label_byte(*splits.validation, 0) == 9);
  CHECK(contains(splits.training->describe(5), "record 1 of"));
  CHECK(contains(splits.training->describe(5), "data_batch_3.bin"));
  CHECK(splits.training->class_names() == std::vector<std::string>{"airplane", "automobile"});
}

TEST_CASE("the folder that the archive of CIFAR-10 unpacks to is found") {
  const TemporaryFolder folder;
  write_cifar10(folder / "cifar-10-batches-bin");
  CHECK(open_dataset(spec_of(folder.path())).training->size() == 10);
}

TEST_CASE("damaged CIFAR-10 files give a sentence") {
  const TemporaryFolder folder;
  write_cifar10(folder.path());
  const auto open = [&] { return open_dataset(spec_of(folder.path())); };

  std::filesystem::remove(folder / "data_batch_4.bin");
  CHECK_ERROR(open(), "data_batch_4.bin is missing");
  write(folder / "data_batch_4.bin", cifar_record("\x01", 1).substr(0, 3000));
  CHECK_ERROR(open(), "data_batch_4.bin has 3000 bytes, which is not a whole number of CIFAR-10 records of 3073 bytes");
  write(folder / "data_batch_4.bin", "");
  CHECK_ERROR(open(), "data_batch_4.bin has 0 bytes");
  write(folder / "data_batch_4.bin", cifar_record("\x01", 1) + cifar_record("\x0a", 1));
  CHECK_ERROR(open(), "record 1 of");
  CHECK_ERROR(open(), "has the label 10, but CIFAR-10 has the classes 0 to 9");
  write(folder / "data_batch_4.bin", cifar_record("\x01", 1));
  std::filesystem::remove(folder / "test_batch.bin");
  CHECK_ERROR(open(), "test_batch.bin is missing");
}

TEST_CASE("CIFAR-100 has a coarse and a fine label, and the fine one comes first") {
  const TemporaryFolder folder;
  write(folder / "train.bin", cifar_record("\x13\x63", 5) + cifar_record(std::string("\0\1", 2), 6));
  write(folder / "test.bin", cifar_record("\x02\x03", 7));
  const Splits splits = open_dataset(spec_of(folder.path()));
  CHECK(splits.training->fields()[1].name == "label");
  CHECK(splits.training->fields()[2].name == "coarse_label");
  CHECK(label_byte(*splits.training, 0, 1) == 99);
  CHECK(label_byte(*splits.training, 0, 2) == 19);
  CHECK(bytes_of(*splits.training, 1, 0) == std::string(3072, '\6'));
  write(folder / "test.bin", cifar_record("\x14\x03", 7));
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "coarse_label 20");
}

TEST_CASE("MNIST is read plain and gzipped") {
  for (const std::string ending : {"", ".gz"}) {
    const TemporaryFolder folder;
    write_mnist(folder.path(), ending);
    const Splits splits = open_dataset(spec_of(folder.path()));
    REQUIRE(splits.training->size() == 3);
    CHECK(splits.training->fields()[0].dims == Dims{1, 2, 3});
    CHECK(bytes_of(*splits.training, 1, 0) == std::string("\6\7\10\11\12\13"));
    CHECK(label_byte(*splits.training, 1) == 2);
    CHECK(bytes_of(*splits.validation, 0, 0) == "abcdef");
    CHECK(label_byte(*splits.validation, 0) == 4);
  }
}

TEST_CASE("damaged MNIST files give a sentence") {
  const TemporaryFolder folder;
  write_mnist(folder.path(), "");
  const auto open = [&] { return open_dataset(spec_of(folder.path())); };
  const auto labels = folder / "train-labels-idx1-ubyte", images = folder / "train-images-idx3-ubyte";

  write(labels, idx({2}, "\x01\x02"));
  CHECK_ERROR(open(), "has 3 images, but");
  write(labels, idx({3}, "\x01\x02"));
  CHECK_ERROR(open(), "train-labels-idx1-ubyte is truncated");
  write(labels, idx({3}, "\x01\x02\x03\x04"));
  CHECK_ERROR(open(), "more bytes follow");
  write(labels, idx({3, 1}, "\x01\x02\x03"));
  CHECK_ERROR(open(), "has 2 axes; labels have 1");
  write(labels, idx({3}, std::string(12, 'x'), 0x0d));
  CHECK_ERROR(open(), "another type than unsigned bytes");
  write(labels, "\x08\x01");
  CHECK_ERROR(open(), "not an IDX file");
  write(labels, idx({3}, "\x01\x02\x03"));
  write(images, idx({65535, 65535, 65535}, "abc"));
  CHECK_ERROR(open(), "more than the file can hold");
  write(images, idx({0, 2, 3}, ""));
  write(labels, idx({0}, ""));
  CHECK_ERROR(open(), "is empty");
  std::filesystem::remove(images);
  CHECK_ERROR(open(), "train-images-idx3-ubyte (or train-images-idx3-ubyte.gz) is missing");

  const std::string packed = gzipped(idx({3, 2, 3}, "abcdefghijklmnopqr"));
  write(folder / "train-images-idx3-ubyte.gz", packed.substr(0, packed.size() - 12));
  CHECK_ERROR(open(), "train-images-idx3-ubyte.gz is truncated");
  std::string corrupt = packed;
  corrupt[packed.size() - 6] ^= 1;
  write(folder / "train-images-idx3-ubyte.gz", corrupt);
  CHECK_ERROR(open(), "train-images-idx3-ubyte.gz is corrupt");
}

TEST_CASE("JPEG and PNG pictures decode to the pixels that Pillow reads") {
  for (const Picture& picture : {rgb_png, grey_png, rgba_png, palette_png, grey16_png, rgb_jpeg, grey_jpeg}) {
    const Image image = decode_image(from_hex(picture.file), picture.channels, "memory");
    CHECK(image.height == picture.height);
    CHECK(image.width == picture.width);
    CHECK(image.channels == picture.channels);
    CHECK(std::string(image.pixels.begin(), image.pixels.end()) == from_hex(picture.pixels));
  }
  // The two programs round CMYK differently.
  const Image image = decode_image(from_hex(cmyk_jpeg.file), 3, "memory");
  const std::string expected = from_hex(cmyk_jpeg.pixels);
  REQUIRE(image.pixels.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::abs(image.pixels[i] - static_cast<int>(static_cast<unsigned char>(expected[i]))) <= 2);
  }
}

TEST_CASE("grey pictures become colour and colour pictures grey") {
  const Image grey = decode_image(from_hex(grey_png.file), 1, "memory");
  const Image as_colour = decode_image(from_hex(grey_png.file), 3, "memory");
  REQUIRE(as_colour.pixels.size() == 3 * grey.pixels.size());
  for (std::size_t i = 0; i < as_colour.pixels.size(); ++i) CHECK(as_colour.pixels[i] == grey.pixels[i / 3]);
  const Image colour = decode_image(from_hex(rgb_png.file), 3, "memory");
  const Image as_grey = decode_image(from_hex(rgb_png.file), 1, "memory");
  REQUIRE(as_grey.pixels.size() == colour.pixels.size() / 3);
  for (std::size_t i = 0; i < as_grey.pixels.size(); ++i) {
    const std::uint8_t* pixel = &colour.pixels[3 * i];
    CHECK(as_grey.pixels[i] == doctest::Approx(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]).epsilon(0.01));
  }
}

TEST_CASE("corrupt pictures give a sentence that names the file") {
  const auto reject = [](const std::string& bytes, const std::string& part) {
    const std::string sentence = sentence_of([&] { decode_image(bytes, 3, "cat/7.jpg"); });
    CHECK_MESSAGE(contains(sentence, part), sentence);
    CHECK(sentence.starts_with("cat/7.jpg is "));
  };
  const std::string jpeg = from_hex(rgb_jpeg.file), png = from_hex(rgb_png.file);
  reject("", "neither a JPEG nor a PNG");
  reject("GIF89a and so on", "neither a JPEG nor a PNG");
  reject(jpeg.substr(0, jpeg.size() / 2), "corrupt picture");
  reject(jpeg.substr(0, jpeg.size() - 20), "corrupt picture");
  reject(jpeg.substr(0, 10), "corrupt picture");
  reject(png.substr(0, png.size() - 25), "corrupt picture: it ends too early");
  reject(png.substr(0, 20), "corrupt picture");
  std::string changed = png;
  changed[45] ^= 0x10;  // in the pixels, so that their CRC does not fit
  reject(changed, "corrupt picture");
}

TEST_CASE("bilinear resizing agrees with Pillow") {
  const auto unsigned_at = [](const std::string& s, std::size_t i) {
    return static_cast<int>(static_cast<unsigned char>(s[i]));
  };
  // Pillow's resize of a 10 x 8 picture to 7 x 3, and its first row at 25 x 16.
  const std::string smaller = from_hex(resized_to_7x3), larger = from_hex(first_row_of_25x16);
  std::vector<std::uint8_t> source;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 10; ++x) {
      for (int c = 0; c < 3; ++c) source.push_back(static_cast<std::uint8_t>(40 + 10 * x * (c + 1) + 8 * y * (3 - c)));
    }
  }
  std::vector<std::uint8_t> target(3 * 7 * 3);
  BilinearResize(8, 10, 3, 7).apply(source.data(), 3, target.data());
  REQUIRE(smaller.size() == target.size());
  for (std::size_t i = 0; i < target.size(); ++i) CHECK(std::abs(target[i] - unsigned_at(smaller, i)) <= 1);
  target.resize(16 * 25 * 3);
  BilinearResize(8, 10, 16, 25).apply(source.data(), 3, target.data());
  for (std::size_t i = 0; i < larger.size(); ++i) CHECK(std::abs(target[i] - unsigned_at(larger, i)) <= 1);
}

TEST_CASE("resizing keeps a constant picture and, at the same size, every picture") {
  const std::vector<float> constant(6 * 5, 0.3f);
  std::vector<float> out(11 * 4);
  BilinearResize(6, 5, 11, 4).apply(constant.data(), 1, out.data());
  for (const float value : out) CHECK(value == doctest::Approx(0.3f));
  const std::vector<std::uint8_t> picture{1, 200, 3, 4, 255, 0};
  std::vector<std::uint8_t> same(6);
  BilinearResize(2, 3, 2, 3).apply(picture.data(), 1, same.data());
  CHECK(same == picture);
}

TEST_CASE("an image folder is decoded, resized and labelled by its class folders") {
  const TemporaryFolder folder;
  write(folder / "dog/b.PNG", from_hex(rgb_png.file));
  write(folder / "dog/a.png", from_hex(grey_png.file));
  write(folder / "cat/inner/c.jpeg", from_hex(rgb_jpeg.file));
  write(folder / "cat/notes.txt", "not a picture");
  write(folder / ".hidden/x.png", "ignored");
  DatasetSpec spec = spec_of(folder.path());
  spec.image = {4, 5, 3};
  spec.validation_fraction = 0.0;
  const Splits splits = open_dataset(spec);
  CHECK(splits.validation == nullptr);
  const Dataset& dataset = *splits.training;
  CHECK(dataset.class_names() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(dataset.size() == 3);
  CHECK(dataset.fields()[0].dims == Dims{4, 5, 3});
  CHECK(contains(dataset.describe(0), "c.jpeg"));
  CHECK(label_byte(dataset, 0) == 0);
  CHECK(label_byte(dataset, 1) == 1);
  CHECK(label_byte(dataset, 2) == 1);
  CHECK(bytes_of(dataset, 2, 0) == from_hex(rgb_png.pixels));
  CHECK(bytes_of(dataset, 1, 0).size() == 60);
}

TEST_CASE("image folders with a train and a validation folder are recognized") {
  const TemporaryFolder folder;
  write(folder / "train/a/1.png", from_hex(rgb_png.file));
  write(folder / "train/b/2.png", from_hex(rgb_png.file));
  write(folder / "val/b/3.png", from_hex(rgb_png.file));
  const Splits splits = open_dataset(spec_of(folder.path()));
  CHECK(splits.training->size() == 2);
  REQUIRE(splits.validation->size() == 1);
  CHECK(label_byte(*splits.validation, 0) == 1);
  write(folder / "val/c/4.png", from_hex(rgb_png.file));
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "is not one of the 2 classes");
}

TEST_CASE("wrong image folders give a sentence") {
  const TemporaryFolder folder;
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "is empty: the folder holds nothing");
  CHECK_ERROR(open_dataset(spec_of(folder.path(), "images")), "is empty");
  write(folder / "a/1.png", from_hex(rgb_png.file));
  std::filesystem::create_directories(folder / "b");
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "holds no JPEG or PNG picture");
  write(folder / "b/2.gif", "GIF89a");
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "2.gif cannot be read");
  std::filesystem::remove(folder / "b/2.gif");
  write(folder / "b/2.png", from_hex(grey_png.file));
  DatasetSpec spec = spec_of(folder.path());
  spec.validation_fraction = 0.0;
  const Splits splits = open_dataset(spec);
  CHECK_ERROR(bytes_of(*splits.training, 1, 0), "2.png is 4 x 3 pixels, but");
  write(folder / "b/2.png", from_hex(rgb_png.file).substr(0, 60));
  CHECK_ERROR(bytes_of(*splits.training, 1, 0), "2.png is a corrupt picture");
}

TEST_CASE("arrays come from an archive, a folder, or one file with its neighbours") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), y = Tensor::of<std::int64_t>({4}, {3, 2, 1, 0});
  write_npz(folder / "d.npz", {{"x", x}, {"y", y}, {"other", Tensor::scalar<float>(1)}});
  write_npy(folder / "arrays/x.npy", x);
  write_npy(folder / "arrays/y.npy", y);
  for (const auto& path : {folder / "d.npz", folder / "arrays", folder / "arrays/x.npy"}) {
    DatasetSpec spec = spec_of(path);
    spec.validation_fraction = 0.0;
    const Splits splits = open_dataset(spec);
    REQUIRE(splits.training->size() == 4);
    REQUIRE(splits.training->fields().size() == 2);
    CHECK(splits.training->fields()[0].name == "x");
    CHECK(splits.training->fields()[1].role == FieldRole::label);
    CHECK(bytes_of(*splits.training, 2, 0) == std::string(reinterpret_cast<const char*>(x.raw()) + 16, 8));
    CHECK(label_byte(*splits.training, 2) == 1);
  }
}

TEST_CASE("the only array that is no label is the input, whatever its name") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({2, 1}, {1, 2}), label = Tensor::of<std::int64_t>({2}, {1, 0});
  write_npz(folder / "d.npz", {{"image", x}, {"label", label}});
  DatasetSpec spec = spec_of(folder / "d.npz");
  spec.validation_fraction = 0.0;
  const Splits splits = open_dataset(spec);
  REQUIRE(splits.training->fields().size() == 2);
  CHECK(splits.training->fields()[0].name == "image");
  CHECK(splits.training->fields()[1].name == "label");
  CHECK(splits.training->fields()[1].role == FieldRole::label);
}

TEST_CASE("several inputs and labels are chosen by name, and an input may be its own label") {
  const TemporaryFolder folder;
  write_npz(folder / "d.npz", {{"left", Tensor(DataType::float32, {6, 2})},
                               {"right", Tensor(DataType::uint8, {6, 3, 3})},
                               {"t", Tensor(DataType::float64, {6})}});
  DatasetSpec spec = spec_of(folder / "d.npz");
  spec.arrays = {{"left", "right"}, {"t", "left"}};
  const Splits splits = open_dataset(spec);
  const auto& fields = splits.training->fields();
  REQUIRE(fields.size() == 3);
  CHECK(fields[1].name == "right");
  CHECK(fields[1].dims == Dims{3, 3});
  CHECK(fields[2].dtype == DataType::float64);
  spec.arrays.inputs = {"middle"};
  CHECK_ERROR(open_dataset(spec), "has no array 'middle'; it has 'left', 'right', 't'");
}

TEST_CASE("archives with a training and a validation part are recognized") {
  const TemporaryFolder folder;
  const auto numbers = [](std::int64_t n) { return Tensor(DataType::float32, {n, 2}); };
  write_npz(folder / "keras.npz",
            {{"x_train", numbers(5)}, {"y_train", numbers(5)}, {"x_test", numbers(3)}, {"y_test", numbers(3)}});
  write_npz(folder / "split/train.npz", {{"x", numbers(5)}, {"y", numbers(5)}});
  write_npz(folder / "split/validation.npz", {{"x", numbers(3)}, {"y", numbers(3)}});
  for (const auto& path : {folder / "keras.npz", folder / "split"}) {
    const Splits splits = open_dataset(spec_of(path));
    CHECK(splits.training->size() == 5);
    CHECK(splits.validation->size() == 3);
    CHECK(splits.training->fields()[0].name == "x");
  }
  DatasetSpec separate = spec_of(folder / "split/train.npz");
  separate.validation_path = folder / "split/validation.npz";
  CHECK(open_dataset(separate).validation->size() == 3);
  write_npz(folder / "split/validation.npz", {{"x", Tensor(DataType::float32, {3, 4})}, {"y", numbers(3)}});
  CHECK_ERROR(open_dataset(spec_of(folder / "split")), "samples of shape [2] for training, but [4] for validation");
}

TEST_CASE("wrong arrays give a sentence") {
  const TemporaryFolder folder;
  const auto open = [&](const std::map<std::string, Tensor>& arrays) {
    write_npz(folder / "d.npz", arrays);
    return open_dataset(spec_of(folder / "d.npz"));
  };
  CHECK_ERROR(open({{"x", Tensor(DataType::float32, {4, 2})}, {"y", Tensor(DataType::int64, {5})}}),
              "differ in length: 'x' has 4 samples and 'y' has 5");
  CHECK_ERROR(open({{"x", Tensor(DataType::float32, {0, 2})}}), "is empty");
  CHECK_ERROR(open({{"x", Tensor::scalar<float>(1)}}), "is a single number");
  CHECK_ERROR(open({{"b", Tensor::of<float>({1}, {1})}, {"a", Tensor(DataType::float32, {1})}}),
              "has no array 'x'; it has 'a'");
  CHECK_ERROR(open({}), "it has no array at all");
  write(folder / "d.npz", "no archive");
  CHECK_ERROR(open_dataset(spec_of(folder / "d.npz")), "d.npz");
}

TEST_CASE("a part of the samples is drawn for validation, by the seed") {
  const TemporaryFolder folder;
  std::vector<std::int64_t> numbers(100);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  write_npz(folder / "d.npz", {{"x", Tensor::of<std::int64_t>({100}, numbers)}});
  const auto open = [&](double fraction, std::uint64_t seed) {
    DatasetSpec spec = spec_of(folder / "d.npz");
    spec.validation_fraction = fraction;
    spec.seed = seed;
    return open_dataset(spec);
  };
  const auto members = [](const Dataset& dataset) {
    std::vector<int> all;
    for (std::int64_t i = 0; i < dataset.size(); ++i) all.push_back(label_byte(dataset, i, 0));
    return all;
  };
  const Splits splits = open(0.25, 1);
  CHECK(splits.validation->size() == 25);
  const std::vector<int> training = members(*splits.training), validation = members(*splits.validation);
  std::set<int> all(training.begin(), training.end());
  all.insert(validation.begin(), validation.end());
  CHECK(all.size() == 100);
  CHECK(std::is_sorted(validation.begin(), validation.end()));
  CHECK(members(*open(0.25, 1).validation) == validation);
  CHECK(members(*open(0.25, 2).validation) != validation);
  CHECK(contains(splits.validation->describe(0), text("sample ", validation[0], " of")));
  CHECK(open(0.0001, 1).validation->size() == 1);
  CHECK_ERROR(open(1.0, 1), "less than 1");
  CHECK_ERROR(open(-0.1, 1), "at least 0");
}

TEST_CASE("a path that is no data set gives a sentence") {
  const TemporaryFolder folder;
  CHECK_ERROR(open_dataset(spec_of(folder / "absent")), "absent does not exist");
  CHECK_ERROR(open_dataset(spec_of("")), "no data set was given");
  write(folder / "data.csv", "1,2,3");
  CHECK_ERROR(open_dataset(spec_of(folder / "data.csv")), "is of no known kind");
  CHECK_ERROR(open_dataset(spec_of(folder.path())), "is of no known kind");
  CHECK_ERROR(open_dataset(spec_of(folder.path(), "imagenet")), "there is no kind of data set 'imagenet'");
  DatasetSpec spec = spec_of(folder.path(), "mnist");
  spec.validation_path = folder.path();
  CHECK_ERROR(open_dataset(spec), "its own test files");
}

TEST_CASE("the real MNIST is read") {
  const auto folder = shared_folder() / "data" / "mnist";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: there is no ../shared/data/mnist");
    return;
  }
  const Splits splits = open_dataset(spec_of(folder));
  CHECK(splits.training->size() == 60000);
  CHECK(splits.validation->size() == 10000);
  CHECK(splits.training->fields()[0].dims == Dims{1, 28, 28});
  // The first labels of both files, as everybody knows them.
  const int training[] = {5, 0, 4, 1, 9}, test[] = {7, 2, 1, 0, 4};
  for (int i = 0; i < 5; ++i) {
    CHECK(label_byte(*splits.training, i) == training[i]);
    CHECK(label_byte(*splits.validation, i) == test[i]);
  }
}

TEST_CASE("the bundled digits are read") {
  const Splits splits = open_dataset(spec_of("data/digits"));
  CHECK(splits.training->size() + splits.validation->size() == 1797);
  CHECK(element_count(splits.training->fields()[0].dims) == 32 * 32 * 3);
}
