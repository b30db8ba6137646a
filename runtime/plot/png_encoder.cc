#include "runtime/plot/png_encoder.h"

#include <png.h>

#include <cstring>

#include "base/error.h"

namespace ort_train::plot {

std::string encode_png(const std::vector<std::uint8_t>& pixels, int width, int height) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    fail("a picture of ", width, " x ", height, " pixels could not be written as PNG: ", image.message);
  }
  file.resize(size);
  return file;
}

}  // namespace ort_train::plot
