#include "runtime/data/cifar.h"

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "runtime/data/array_dataset.h"

namespace ort_train::data {

namespace {

constexpr std::size_t image_bytes = 3 * 32 * 32;

/// A label byte of a record: its name and the number of its classes.
struct LabelByte {
  const char* name;
  int classes;
};

struct Format {
  const char* name;
  const char* inner_folder;  ///< what the distribution's archive unpacks to
  const char* class_name_file;
  std::vector<const char*> training_files, test_files;
  std::vector<LabelByte> labels;

  std::size_t record_bytes() const { return labels.size() + image_bytes; }
};

const Format& cifar10() {
  static const Format format{
      "CIFAR-10",
      "cifar-10-batches-bin",
      "batches.meta.txt",
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      {"test_batch.bin"},
      {{"label", 10}}};
  return format;
}

const Format& cifar100() {
  static const Format format{"CIFAR-100",   "cifar-100-binary", "fine_label_names.txt",
                             {"train.bin"}, {"test.bin"},       {{"coarse_label", 20}, {"label", 100}}};
  return format;
}

bool holds_any_file(const Format& format, const std::filesystem::path& folder) {
  for (const auto* files : {&format.training_files, &format.test_files}) {
    for (const char* file : *files) {
      if (std::filesystem::exists(folder / file)) return true;
    }
  }
  return false;
}

std::filesystem::path folder_of_files(const Format& format, const std::filesystem::path& folder) {
  const std::filesystem::path inner = folder / format.inner_folder;
  return !holds_any_file(format, folder) && std::filesystem::is_directory(inner) ? inner : folder;
}

std::vector<std::string> read_class_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::int64_t count_records(const Format& format, const InputFile& file) {
  if (file.size() == 0 || file.size() % format.record_bytes() != 0) {
    fail(file.path().string(), " has ", file.size(), " bytes, which is not a whole number of ", format.name,
         " records of ", format.record_bytes(), " bytes: it is truncated or another kind of file");
  }
  return static_cast<std::int64_t>(file.size() / format.record_bytes());
}

/// Takes the records of one file apart into the arrays, from sample `first` on.
void read_records(const Format& format, const InputFile& file, std::int64_t first, Tensor& images,
                  std::vector<Tensor>& labels) {
  const std::string content = file.read(0, static_cast<std::size_t>(file.size()));
  const std::size_t records = content.size() / format.record_bytes();
  for (std::size_t record = 0; record < records; ++record) {
    const char* source = content.data() + record * format.record_bytes();
    const std::size_t sample = static_cast<std::size_t>(first) + record;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto label = static_cast<std::uint8_t>(source[i]);
      if (label >= format.labels[i].classes) {
        fail("record ", record, " of ", file.path().string(), " has the ", format.labels[i].name, " ",
             static_cast<int>(label), ", but ", format.name, " has the classes 0 to ", format.labels[i].classes - 1);
      }
      labels[i].data<std::uint8_t>()[sample] = label;
    }
    std::memcpy(images.raw() + sample * image_bytes, source + labels.size(), image_bytes);
  }
}

DatasetPointer read_files(const Format& format, const std::filesystem::path& folder,
                          const std::vector<const char*>& names) {
  std::vector<std::unique_ptr<InputFile>> files;
  std::vector<ArrayDataset::Source> sources;
  std::int64_t samples = 0;
  for (const char* name : names) {
    const std::filesystem::path path = folder / name;
    if (!std::filesystem::exists(path)) fail("the ", format.name, " file ", path.string(), " is missing");
    files.push_back(std::make_unique<InputFile>(path));
    sources.push_back({path.string(), count_records(format, *files.back())});
    samples += sources.back().samples;
  }
  Tensor images(DataType::uint8, {samples, 3, 32, 32});
  std::vector<Tensor> labels;
  for (std::size_t i = 0; i < format.labels.size(); ++i) labels.emplace_back(DataType::uint8, Dims{samples});
  std::int64_t first = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    read_records(format, *files[i], first, images, labels);
    first += sources[i].samples;
  }
  std::vector<ArrayDataset::Array> arrays{{"image", FieldRole::input, ImageLayout::channels_first, images}};
  // The finest label is the last byte; it is the one that a label without a name means, so it comes first.
  for (std::size_t i = labels.size(); i-- > 0;) {
    arrays.push_back({format.labels[i].name, FieldRole::label, ImageLayout::none, labels[i]});
  }
  return std::make_shared<ArrayDataset>(std::move(arrays), std::move(sources), "record",
                                        read_class_names(folder / format.class_name_file));
}

Splits open_cifar(const Format& format, const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of_files(format, path);
  return {read_files(format, folder, format.training_files), read_files(format, folder, format.test_files)};
}

}  // namespace

bool is_cifar10(const std::filesystem::path& folder) {
  return holds_any_file(cifar10(), folder_of_files(cifar10(), folder));
}
bool is_cifar100(const std::filesystem::path& folder) {
  return holds_any_file(cifar100(), folder_of_files(cifar100(), folder));
}

Splits open_cifar10(const std::filesystem::path& folder) { return open_cifar(cifar10(), folder); }
Splits open_cifar100(const std::filesystem::path& folder) { return open_cifar(cifar100(), folder); }

}  // namespace ort_train::data
