#include "runtime/data/mnist.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "runtime/data/array_dataset.h"

namespace ort_train::data {

namespace {

constexpr std::uint8_t unsigned_bytes = 0x08;

/// A file that zlib unpacks on the way, if it is packed at all.
class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path) : path_(path.string()) {
    const InputFile readable(path);  // says why when it is not; zlib would not
    file_ = ::gzopen(path.c_str(), "rb");
    if (file_ == nullptr) fail("cannot read ", path_);
    ::gzbuffer(file_, 1 << 17);
  }
  ~GzipFile() { ::gzclose(file_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  /// Up to `bytes` bytes; less only at the end of the file.
  std::size_t read(void* destination, std::size_t bytes) {
    auto* out = static_cast<char*>(destination);
    std::size_t done = 0;
    while (done < bytes) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 30));
      const int got = ::gzread(file_, out + done, piece);
      if (got < 0) fail(path_, " is corrupt: its gzip data cannot be unpacked");
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    int status = Z_OK;
    ::gzerror(file_, &status);
    if (status == Z_BUF_ERROR) fail(path_, " is truncated: its gzip data end too early");
    return done;
  }

 private:
  std::string path_;
  gzFile file_ = nullptr;
};

std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    if (std::filesystem::exists(folder / (name + ending))) return folder / (name + ending);
  }
  fail("the MNIST file ", (folder / name).string(), " (or ", name, ".gz) is missing");
}

DatasetPointer read_split(const std::filesystem::path& folder, const std::string& prefix) {
  const std::filesystem::path image_file = find_file(folder, prefix + "-images-idx3-ubyte");
  const std::filesystem::path label_file = find_file(folder, prefix + "-labels-idx1-ubyte");
  const Tensor images = read_idx(image_file);
  const Tensor labels = read_idx(label_file);
  if (images.rank() != 3)
    fail(image_file.string(), " has ", images.rank(), " axes; images have 3: count, height, width");
  if (labels.rank() != 1) fail(label_file.string(), " has ", labels.rank(), " axes; labels have 1");
  const Dims& dims = images.dims();
  if (dims[0] != labels.dims()[0]) {
    fail(image_file.string(), " has ", dims[0], " images, but ", label_file.string(), " has ", labels.dims()[0],
         " labels");
  }
  std::vector<ArrayDataset::Array> arrays{
      {"image", FieldRole::input, ImageLayout::channels_first, images.reshaped({dims[0], 1, dims[1], dims[2]})},
      {"label", FieldRole::label, ImageLayout::none, labels}};
  return std::make_shared<ArrayDataset>(std::move(arrays),
                                        std::vector<ArrayDataset::Source>{{image_file.string(), dims[0]}}, "image");
}

}  // namespace

Tensor read_idx(const std::filesystem::path& path) {
  GzipFile file(path);
  std::uint8_t magic[4] = {};
  if (file.read(magic, 4) != 4 || magic[0] != 0 || magic[1] != 0 || magic[3] == 0 || magic[3] > 8) {
    fail(path.string(), " is not an IDX file: its first bytes are wrong");
  }
  if (magic[2] != unsigned_bytes) fail(path.string(), " is an IDX file of another type than unsigned bytes");
  Dims dims;
  double count = 1;
  for (int axis = 0; axis < magic[3]; ++axis) {
    std::uint8_t extent[4] = {};
    if (file.read(extent, 4) != 4) fail(path.string(), " is truncated: it ends within its header");
    dims.push_back(static_cast<std::int64_t>(extent[0]) << 24 | extent[1] << 16 | extent[2] << 8 | extent[3]);
    count *= static_cast<double>(dims.back());
  }
  // Gzip shrinks by at most 1032; a larger claim comes from a damaged header and must not be allocated.
  if (count > 1032.0 * static_cast<double>(std::filesystem::file_size(path))) {
    fail(path.string(), " is truncated: its header says ", to_string(dims), ", which is more than the file can hold");
  }
  Tensor tensor(DataType::uint8, dims);
  const std::size_t got = file.read(tensor.raw(), tensor.bytes());
  if (got != tensor.bytes()) {
    fail(path.string(), " is truncated: its header says ", to_string(dims), ", which is ", tensor.bytes(),
         " bytes, but only ", got, " follow");
  }
  char more = 0;
  if (file.read(&more, 1) != 0)
    fail(path.string(), " is damaged: more bytes follow than the ", tensor.bytes(), " of its header");
  return tensor;
}

bool is_mnist(const std::filesystem::path& folder) {
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"}) {
    for (const char* ending : {"", ".gz"}) {
      if (std::filesystem::exists(folder / (std::string(name) + ending))) return true;
    }
  }
  return false;
}

Splits open_mnist(const std::filesystem::path& folder) {
  return {read_split(folder, "train"), read_split(folder, "t10k")};
}

}  // namespace ort_train::data
