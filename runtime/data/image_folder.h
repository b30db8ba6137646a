#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/data/dataset.h"

namespace ort_train::data {

/// The size that pictures are brought to. A height of 0: pictures keep their own size, which must then be that of the
/// first one.
struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 3;
};

/// A folder with one folder of JPEG and PNG pictures a class; the classes are numbered in the order of their names.
/// Pictures are decoded when they are read, so that the loader's threads do it, and resized bilinearly. Fields:
/// `image`, uint8 [height, width, channels]; `label`, int64. `classes` demands these classes in this order (a
/// validation folder may lack some, but may not have others); empty takes those found.
DatasetPointer open_image_folder(const std::filesystem::path& folder, const ImageSize& size,
                                 const std::vector<std::string>& classes = {});

}  // namespace ort_train::data
