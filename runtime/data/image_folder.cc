#include "runtime/data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "runtime/data/image_decoder.h"
#include "runtime/data/resize.h"

namespace ort_train::data {

namespace {

struct Picture {
  std::filesystem::path path;
  std::int64_t label;
};

Image read_picture(const std::filesystem::path& path, std::int64_t channels) {
  const InputFile file(path);
  return decode_image(file.read(0, static_cast<std::size_t>(file.size())), channels, path.string());
}

class ImageFolder final : public Dataset {
 public:
  ImageFolder(std::vector<Picture> pictures, std::vector<std::string> classes, ImageSize size, bool resize)
      : pictures_(std::move(pictures)), classes_(std::move(classes)), size_(size), resize_(resize) {
    fields_ = {{"image",
                DataType::uint8,
                {size.height, size.width, size.channels},
                FieldRole::input,
                ImageLayout::channels_last},
               {"label", DataType::int64, {}, FieldRole::label, ImageLayout::none}};
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(pictures_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }
  std::string describe(std::int64_t index) const override { return picture(index).path.string(); }
  const std::vector<std::string>& class_names() const override { return classes_; }

  void read(std::int64_t index, std::size_t field, std::byte* destination) const override {
    if (field == 1) {
      std::memcpy(destination, &picture(index).label, sizeof(std::int64_t));
      return;
    }
    const Image image = read_picture(picture(index).path, size_.channels);
    auto* out = reinterpret_cast<std::uint8_t*>(destination);
    if (image.height == size_.height && image.width == size_.width) {
      std::copy(image.pixels.begin(), image.pixels.end(), out);
    } else if (resize_) {
      BilinearResize(image.height, image.width, size_.height, size_.width)
          .apply(image.pixels.data(), image.channels, out);
    } else {
      fail(picture(index).path.string(), " is ", image.width, " x ", image.height, " pixels, but ",
           pictures_[0].path.string(), " is ", size_.width, " x ", size_.height,
           ": give the size that pictures are to be resized to");
    }
  }

 private:
  const Picture& picture(std::int64_t index) const { return pictures_.at(static_cast<std::size_t>(index)); }

  std::vector<Picture> pictures_;
  std::vector<std::string> classes_;
  ImageSize size_;
  bool resize_;
  std::vector<Field> fields_;
};

bool is_hidden(const std::filesystem::path& path) { return path.filename().string().starts_with('.'); }

std::string lower_case_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

/// Sorted, since the order of a folder differs between machines.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || is_hidden(entry.path())) continue;
    const std::string extension = lower_case_extension(entry.path());
    if (extension == ".jpg" || extension == ".jpeg" || extension == ".png") {
      paths.push_back(entry.path());
    } else if (extension == ".gif" || extension == ".bmp" || extension == ".tif" || extension == ".tiff" ||
               extension == ".webp") {
      fail(entry.path().string(), " cannot be read: pictures must be JPEG or PNG files; convert or remove it");
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> class_folders(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory() && !is_hidden(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

DatasetPointer open_image_folder(const std::filesystem::path& folder, const ImageSize& size,
                                 const std::vector<std::string>& classes) {
  if (!std::filesystem::is_directory(folder)) fail("the image folder ", folder.string(), " does not exist");
  const std::vector<std::string> found = class_folders(folder);
  if (found.empty()) fail("the data set ", folder.string(), " is empty: it has no folder of pictures");
  const std::vector<std::string>& names = classes.empty() ? found : classes;
  std::vector<Picture> pictures;
  for (const std::string& name : found) {
    const auto position = std::find(names.begin(), names.end(), name);
    if (position == names.end()) {
      fail("the folder ", (folder / name).string(), " is not one of the ", names.size(),
           " classes of the training set");
    }
    const auto paths = pictures_in(folder / name);
    if (paths.empty() && classes.empty())
      fail("the class folder ", (folder / name).string(), " holds no JPEG or PNG picture");
    for (const auto& path : paths) pictures.push_back({path, position - names.begin()});
  }
  if (pictures.empty()) fail("the data set ", folder.string(), " is empty: it holds no JPEG or PNG picture");
  ImageSize target = size;
  const bool resize = size.height > 0 && size.width > 0;
  if (!resize) {
    const Image first = read_picture(pictures[0].path, size.channels);
    target.height = first.height;
    target.width = first.width;
  }
  return std::make_shared<ImageFolder>(std::move(pictures), names, target, resize);
}

}  // namespace ort_train::data
