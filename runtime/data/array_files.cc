#include "runtime/data/array_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/npy.h"
#include "runtime/data/array_dataset.h"

namespace ort_train::data {

namespace {

/// The arrays behind one path; those of a folder are read when they are asked for.
class ArrayCollection {
 public:
  explicit ArrayCollection(const std::filesystem::path& path) : origin_(path.string()) {
    if (path.extension() == ".npz") {
      arrays_ = read_npz(path);
      for (const auto& [name, array] : arrays_) names_.push_back(name);
      return;
    }
    const bool is_folder = std::filesystem::is_directory(path);
    if (!is_folder && !std::filesystem::exists(path)) fail("the data set ", origin_, " does not exist");
    folder_ = is_folder ? path : path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".npy") names_.push_back(entry.path().stem().string());
    }
    std::sort(names_.begin(), names_.end());
    if (names_.empty()) fail("the folder ", origin_, " holds no .npy file");
  }

  bool has(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

  Tensor get(const std::string& name) {
    if (!has(name)) fail(origin_, " has no array '", name, "'; it has ", list_of_names());
    if (!arrays_.contains(name)) arrays_[name] = read_npy(folder_ / (name + ".npy"));
    return arrays_[name];
  }

  const std::string& origin() const { return origin_; }

  /// "x" by convention; else the only array that is no label.
  std::string default_input() const {
    std::vector<std::string> candidates = names_;
    std::erase_if(candidates, [](const std::string& name) { return name == "y" || name == "label"; });
    return !has("x") && candidates.size() == 1 ? candidates.front() : "x";
  }

 private:
  std::string list_of_names() const {
    std::string list;
    for (const std::string& name : names_) list += (list.empty() ? "'" : ", '") + name + "'";
    return list.empty() ? "no array at all" : list;
  }

  std::string origin_;
  std::filesystem::path folder_;
  std::vector<std::string> names_;
  std::map<std::string, Tensor> arrays_;
};

DatasetPointer make_dataset(ArrayCollection& collection, const ArrayNames& names, const std::string& suffix) {
  std::vector<ArrayDataset::Array> arrays;
  for (const std::string& name : names.inputs) {
    arrays.push_back({name, FieldRole::input, ImageLayout::none, collection.get(name + suffix)});
  }
  for (const std::string& name : names.labels) {
    // An array may be its own target, as in an autoencoder.
    if (std::find(names.inputs.begin(), names.inputs.end(), name) != names.inputs.end()) continue;
    arrays.push_back({name, FieldRole::label, ImageLayout::none, collection.get(name + suffix)});
  }
  const std::int64_t samples = arrays[0].values.rank() > 0 ? arrays[0].values.dims()[0] : 0;
  return std::make_shared<ArrayDataset>(std::move(arrays),
                                        std::vector<ArrayDataset::Source>{{collection.origin(), samples}}, "sample");
}

bool has_all(const ArrayCollection& collection, const ArrayNames& names, const std::string& suffix) {
  const auto present = [&](const std::string& name) { return collection.has(name + suffix); };
  return std::all_of(names.inputs.begin(), names.inputs.end(), present) &&
         std::all_of(names.labels.begin(), names.labels.end(), present);
}

Splits open_collection(const std::filesystem::path& path, ArrayNames names) {
  ArrayCollection collection(path);
  if (names.inputs.empty())
    names.inputs = {path.extension() == ".npy" ? path.stem().string() : collection.default_input()};
  if (names.labels.empty() && (collection.has("y") || collection.has("y_train"))) names.labels = {"y"};
  if (names.labels.empty() && collection.has("label")) names.labels = {"label"};
  if (has_all(collection, names, "") || !has_all(collection, names, "_train")) {
    return {make_dataset(collection, names, ""), nullptr};
  }
  Splits splits{make_dataset(collection, names, "_train"), nullptr};
  for (const char* suffix : {"_validation", "_val", "_test"}) {
    if (splits.validation == nullptr && has_all(collection, names, suffix)) {
      splits.validation = make_dataset(collection, names, suffix);
    }
  }
  return splits;
}

}  // namespace

bool holds_arrays(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "train.npz")) return true;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".npy") return true;
  }
  return false;
}

Splits open_arrays(const std::filesystem::path& path, const ArrayNames& names) {
  if (!std::filesystem::exists(path / "train.npz")) return open_collection(path, names);
  Splits splits{open_collection(path / "train.npz", names).training, nullptr};
  for (const char* file : {"validation.npz", "val.npz", "test.npz"}) {
    if (splits.validation == nullptr && std::filesystem::exists(path / file)) {
      splits.validation = open_collection(path / file, names).training;
    }
  }
  return splits;
}

}  // namespace ort_train::data
