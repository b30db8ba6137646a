#include "runtime/data/open_dataset.h"

#include "base/error.h"
#include "runtime/data/cifar.h"
#include "runtime/data/mnist.h"

namespace ort_train::data {

namespace {

bool has_subfolder(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) return true;
  }
  return false;
}

std::string recognize(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    if (is_cifar10(path)) return "cifar10";
    if (is_cifar100(path)) return "cifar100";
    if (is_mnist(path)) return "mnist";
    if (holds_arrays(path)) return "arrays";
    if (has_subfolder(path)) return "images";
    if (std::filesystem::is_empty(path)) fail("the data set ", path.string(), " is empty: the folder holds nothing");
  } else if (path.extension() == ".npz" || path.extension() == ".npy") {
    return "arrays";
  }
  fail("the data set ", path.string(),
       " is of no known kind: give a folder with the binary files of CIFAR-10 or CIFAR-100, the IDX files of MNIST, "
       ".npy files, or one folder of pictures a class; or a .npz or .npy file");
}

Splits open_images(const DatasetSpec& spec) {
  std::filesystem::path training = spec.path, validation = spec.validation_path;
  if (std::filesystem::is_directory(spec.path / "train")) {
    training = spec.path / "train";
    for (const char* name : {"validation", "val", "test"}) {
      if (validation.empty() && std::filesystem::is_directory(spec.path / name)) validation = spec.path / name;
    }
  }
  Splits splits{open_image_folder(training, spec.image), nullptr};
  if (!validation.empty()) {
    const Dims& dims = splits.training->fields()[0].dims;
    ImageSize size = spec.image;
    size.height = dims[0];
    size.width = dims[1];
    splits.validation = open_image_folder(validation, size, splits.training->class_names());
  }
  return splits;
}

void check_equal_fields(const DatasetSpec& spec, const Splits& splits) {
  const auto& training = splits.training->fields();
  const auto& validation = splits.validation->fields();
  for (std::size_t i = 0; i < training.size(); ++i) {
    if (i >= validation.size() || training[i].name != validation[i].name) {
      fail("the validation set of ", spec.path.string(), " lacks the array '", training[i].name, "'");
    }
    if (training[i].dims != validation[i].dims) {
      fail("the array '", training[i].name, "' of ", spec.path.string(), " has samples of shape ",
           to_string(training[i].dims), " for training, but ", to_string(validation[i].dims), " for validation");
    }
  }
}

Splits open_array_files(const DatasetSpec& spec) {
  Splits splits = open_arrays(spec.path, spec.arrays);
  if (!spec.validation_path.empty()) splits.validation = open_arrays(spec.validation_path, spec.arrays).training;
  return splits;
}

Splits open_kind(const std::string& kind, const DatasetSpec& spec) {
  if (kind == "images") return open_images(spec);
  if (kind == "arrays") return open_array_files(spec);
  if (!spec.validation_path.empty()) {
    fail_usage("a separate validation set cannot be given for ", kind, ": its own test files are the validation set");
  }
  if (kind == "cifar10") return open_cifar10(spec.path);
  if (kind == "cifar100") return open_cifar100(spec.path);
  if (kind == "mnist") return open_mnist(spec.path);
  fail_usage("there is no kind of data set '", kind, "'; there are cifar10, cifar100, mnist, images and arrays");
}

}  // namespace

Splits open_dataset(const DatasetSpec& spec) {
  if (spec.path.empty()) fail_usage("no data set was given");
  if (!std::filesystem::exists(spec.path)) fail("the data set ", spec.path.string(), " does not exist");
  Splits splits = open_kind(spec.kind.empty() ? recognize(spec.path) : spec.kind, spec);
  if (splits.validation != nullptr) {
    check_equal_fields(spec, splits);
    return splits;
  }
  return split_at_random(splits.training, spec.validation_fraction, spec.seed);
}

}  // namespace ort_train::data
